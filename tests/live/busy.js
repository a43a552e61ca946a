'use strict';
// busy.js [CPU_SECONDS]: works, without end or until the process has used so much of the CPU: collections, regular
// expressions, JSON, sorting, generators, promises, exceptions, deep recursion, functions that V8 inlines.  Whatever a stack
// shows, the line of each caller must hold a call of the one that it calls: every call is on a line of its own.
const { Worker, isMainThread } = require('worker_threads');
const cpuSeconds = Number(process.argv[2] ?? Infinity);

class Shape {
  constructor(size) {
    this.size = size;
  }
  area() {
    return this.size * this.size;
  }
}
class Circle extends Shape {
  area() {
    return super.area() * 3.14;
  }
}
const shapes = [new Shape(1), new Circle(2), new Circle(3)];

function sumOfAreas(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    sum += shapes[i % 3].area();
  }
  return sum;
}

function fibonacci(n) {
  if (n < 2) return n;
  const a = fibonacci(n - 1);
  const b = fibonacci(n - 2);
  return a + b;
}

function makeGarbage(count) {
  const kept = [];
  for (let i = 0; i < count; i++) {
    kept.push({ i, text: 'item ' + i, nested: [i, i + 1] });
  }
  return kept;
}

function toText(items) {
  return JSON.stringify(items);
}

function parse(text) {
  return JSON.parse(text);
}

function compareItems(a, b) {
  return b.i - a.i;
}

function sortItems(items) {
  return items.sort(compareItems);
}

function countWords(text) {
  let count = 0;
  const pattern = /(\w+)\s+(\d+)/g;
  while (pattern.exec(text) !== null) {
    count += 1;
  }
  return count;
}

function* naturals(limit) {
  for (let i = 0; i < limit; i++) {
    yield i;
  }
}

function drain(limit) {
  let sum = 0;
  for (const value of naturals(limit)) {
    sum += value;
  }
  return sum;
}

function throwing(depth) {
  if (depth === 0) throw new Error('deep');
  return throwing(depth - 1);
}

function catching() {
  try {
    return throwing(5);
  } catch (error) {
    return error.message.length;
  }
}

function mapItems(items) {
  return items.map(function one(item) {
    return item.i + item.nested[0];
  });
}

let sink = 0;
function round() {
  sink += sumOfAreas(20000);
  sink += fibonacci(18);
  const items = makeGarbage(1500);
  const text = toText(items);
  const again = parse(text);
  sortItems(again);
  sink += countWords(text);
  sink += drain(5000);
  for (let i = 0; i < 50; i++) {
    sink += catching();
  }
  mapItems(items);
}

function loop() {
  const end = Date.now() + 50;
  while (Date.now() < end) {
    round();
  }
  const used = process.cpuUsage();
  if (used.user + used.system > cpuSeconds * 1e6) {
    process.exit();
  }
  setImmediate(loop);
}

if (isMainThread) {
  new Worker(__filename);
  process.stdout.write('ready\n');
}
loop();
