'use strict';
// Calls functions with values of all kinds, writes down for each what it was called with, and then stays in the innermost.
//   stdout: one line of JSON: {function: {receiver, arguments}}
//   argv:   "hot": first often enough for optimized code
class Point {
  constructor(x) { this.x = x; this.label = 'p'; }
  method(a, b) { return deepest(a, b); }
}
class Special extends Point {}

const truth = {
  many: { receiver: 'undefined', arguments: ['1', '-2', '3.25', 'NaN', 'true', 'false', 'null', 'undefined', '12n', 'Symbol(s)'] },
  texts: { receiver: '{name: "holder", texts: [Function: texts]}',
           arguments: ['"plain"', '"grün"', `"${'x'.repeat(60)}…" (1000 characters)`, '"say \\"hi\\"\\n"'] },
  lists: { receiver: 'undefined', arguments: ['[1, 2, 3]', '[1.5, 2.5]', '["a", {…}, Array(2)]', '[0, 1, 2, 3, 4, … 95 more]', '[]'] },
  objects: { receiver: 'undefined',
             arguments: ['{}', '{a: 1, b: "two", c: {…}}', 'Special {x: 5, label: "p"}', 'Map', '[Function: named]', '{v: [accessor]}'] },
  fewer: { receiver: 'undefined', arguments: ['1'] },
  more: { receiver: 'undefined', arguments: ['1', '2', '3'] },
  method: { receiver: 'Special {x: 7, label: "p"}', arguments: ['"in"', '8'] },
  deepest: { receiver: 'undefined', arguments: ['"in"', '8'] },
};

function many() { return holder.texts('plain', 'grün', 'x'.repeat(1000), 'say "hi"\n'); }
const holder = {
  name: 'holder',
  texts() { return lists([1, 2, 3], [1.5, 2.5], ['a', {}, [1, 2]], Array.from({ length: 100 }, (_, i) => i), []); },
};
function lists() {
  return objects({}, { a: 1, b: 'two', c: { d: 1 } }, new Special(5), new Map([[1, 2]]), function named() {}, { get v() { return 1; } });
}
function objects() { return fewer(1); }
function fewer(a, b, c) { return more(1, 2, 3); }
function more(a) { return new Special(7).method('in', 8); }

let stay = false;
function deepest(a, b) {
  if (stay) {
    process.stdout.write(JSON.stringify(truth) + '\n');
    for (;;);
  }
  return b;
}

function start() { return many(1, -2, 3.25, NaN, true, false, null, undefined, 12n, Symbol('s')); }
if (process.argv[2] === 'hot') for (let i = 0; i < 20000; i++) start();
stay = true;
start();
