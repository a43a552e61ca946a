// Prints what each stack of a .heapprofile allocated, straight from the JSON, without any of nodescope's code:
//   node stacks.mjs FILE > expected
import { readFileSync } from 'node:fs';

const profile = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const weights = new Map();
const rest = [{ node: profile.head, stack: [] }];
while (rest.length > 0) {
  const { node, stack } = rest.pop();
  const { functionName, url, lineNumber, columnNumber } = node.callFrame;
  const here = functionName === '(root)' ? [] : [`${functionName}@${url}:${Math.max(0, lineNumber + 1)}:${Math.max(0, columnNumber + 1)}`];
  const frames = [...stack, ...here];
  const key = frames.join(' ');
  if (node.selfSize > 0) weights.set(key, (weights.get(key) ?? 0) + node.selfSize);
  for (const child of node.children) rest.push({ node: child, stack: frames });
}
const lines = [...weights].map(([stack, weight]) => `${weight} ${stack}`);
process.stdout.write(lines.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).join('\n') + '\n');
