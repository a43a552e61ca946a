// Prints what each stack of the CPU profiles in a trace weighs, and every collection, straight from the JSON, without
// any of nodescope's code:
//   node stacks.mjs FILE > expected
// A sample lasts until the next one, the last one as long as the others on average, as in DevTools.
import { readFileSync } from 'node:fs';

const { traceEvents } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const runs = new Map();
const lines = [];
const begun = new Map();
for (const event of traceEvents) {
  if (event.name === 'Profile') {
    runs.set(event.id, { tid: event.tid, start: event.args.data.startTime, nodes: new Map(), samples: [], deltas: [] });
  } else if (event.name === 'ProfileChunk') {
    const run = runs.get(event.id);
    const data = event.args.data;
    for (const node of data.cpuProfile?.nodes ?? []) run.nodes.set(node.id, node);
    run.samples.push(...(data.cpuProfile?.samples ?? []));
    run.deltas.push(...(data.timeDeltas ?? []));
    if (data.endTime) run.end = data.endTime;
  } else if (/^(Major|Minor)GC$/.test(event.name)) {
    const key = `${event.tid} ${event.name}`;
    if (event.ph === 'B') begun.set(key, event.ts);
    if (event.ph === 'E') lines.push(`gc ${event.name} thread ${event.tid} at ${begun.get(key) * 1000} for ${(event.ts - begun.get(key)) * 1000}`);
  }
}

for (const run of runs.values()) {
  const stackOf = (id) => {
    const names = [];
    for (let node = run.nodes.get(id); node; node = run.nodes.get(node.parent)) {
      const { functionName, url = '', lineNumber = -1, columnNumber = -1 } = node.callFrame;
      if (functionName !== '(root)') names.unshift(`${functionName.replace(/^RegExp: /, '')}@${url}:${lineNumber + 1}:${columnNumber + 1}`);
    }
    return names.join(' ');
  };
  let time = run.start;
  const times = run.deltas.map((delta) => (time += delta));
  const order = times.map((_, i) => i).sort((a, b) => times[a] - times[b] || a - b);
  const weights = new Map();
  const last = times[order.at(-1)];
  // In nanoseconds, because the average is rounded down to them.
  const average = Math.floor(((last - times[order[0]]) * 1000) / (order.length - 1));
  order.forEach((i, position) => {
    const weight = position + 1 < order.length ? (times[order[position + 1]] - times[i]) * 1000 : average;
    const stack = stackOf(run.samples[i]);
    weights.set(stack, (weights.get(stack) ?? 0) + weight);
  });
  for (const [stack, weight] of weights) lines.push(`thread ${run.tid} ${weight} ${stack}`);
}
process.stdout.write(lines.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).join('\n') + '\n');
