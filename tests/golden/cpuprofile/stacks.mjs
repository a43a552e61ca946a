// Prints what each stack of a .cpuprofile weighs, straight from the JSON, without any of nodescope's code:
//   node stacks.mjs FILE > expected
// A sample lasts until the next one, the last one as long as the others on average, as in DevTools;
// samples are put in the order of time first.  Without times a sample weighs one, and without samples a node weighs its
// hitCount.  "(root)" is no frame.
import { readFileSync } from 'node:fs';

const profile = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const older = 'head' in profile;
const nodes = new Map();
const parents = new Map();

if (older) {
  const rest = [profile.head];
  while (rest.length > 0) {
    const node = rest.pop();
    nodes.set(node.id, { frame: { ...node, lineNumber: node.lineNumber - 1, columnNumber: (node.columnNumber ?? 0) - 1 }, hits: node.hitCount });
    for (const child of node.children) {
      parents.set(child.id, node.id);
      rest.push(child);
    }
  }
} else {
  for (const node of profile.nodes) {
    nodes.set(node.id, { frame: node.callFrame, hits: node.hitCount });
    for (const child of node.children ?? []) parents.set(child, node.id);
  }
}

function stackOf(id) {
  const names = [];
  for (; id !== undefined; id = parents.get(id)) {
    const { functionName, url, lineNumber, columnNumber } = nodes.get(id).frame;
    if (functionName === '(root)') continue;
    names.unshift(`${functionName.replace(/^RegExp: /, '')}@${url}:${Math.max(0, lineNumber + 1)}:${Math.max(0, columnNumber + 1)}`);
  }
  return names.join(' ');
}

const weights = new Map();
const add = (id, weight) => weights.set(stackOf(id), (weights.get(stackOf(id)) ?? 0n) + weight);
const nanoseconds = (microseconds) => BigInt(Math.round(microseconds * 1000));

if (!profile.samples) {
  for (const [id, node] of nodes) if (node.hits > 0) add(id, BigInt(node.hits));
} else {
  let time = nanoseconds(profile.startTime);
  const times = older ? profile.timestamps.map(nanoseconds) : profile.timeDeltas.map((delta) => (time += nanoseconds(delta)));
  const order = times.map((_, i) => i).sort((a, b) => (times[a] < times[b] ? -1 : times[a] > times[b] ? 1 : a - b));
  const last = times[order.at(-1)];
  const end = order.length === 1
    ? nanoseconds(profile.endTime * (older ? 1e6 : 1))
    : last + (last - times[order[0]]) / BigInt(order.length - 1);
  order.forEach((i, position) => {
    const next = position + 1 < order.length ? times[order[position + 1]] : end;
    add(profile.samples[i], next > times[i] ? next - times[i] : 0n);
  });
}
const lines = [...weights].map(([stack, weight]) => `${weight} ${stack}`);
process.stdout.write(lines.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).join('\n') + '\n');
