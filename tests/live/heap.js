// A program with known numbers of objects; argument "busy": it makes garbage all the time, with a worker that does so too.
'use strict';
class Kept {
  constructor(i) {
    this.number = i;
    this.child = { i };
    this.text = 'text ' + i;
  }
}
class Derived extends Kept {
  constructor(i) {
    super(i);
    this.list = [i];
  }
}
class Garbage {
  constructor(i) {
    this.i = i;
    this.more = {};
  }
}
class OnlyWeak {}
const kept = [];
for (let i = 0; i < 3000; ++i) kept.push(new Kept(i));
for (let i = 0; i < 700; ++i) kept.push(new Derived(i));
const byKey = new Map();
for (let i = 0; i < 500; ++i) byKey.set('key' + i, new Kept(i));
const weakly = new WeakMap();
for (let i = 0; i < 100; ++i) weakly.set(kept[i], new Derived(i));
for (let i = 0; i < 50; ++i) weakly.set({}, new OnlyWeak());
const references = [];
for (let i = 0; i < 50; ++i) references.push(new WeakRef(new OnlyWeak()));
globalThis.everything = { kept, byKey, weakly, references, secret: 'pass' + 'word'.repeat(2) };

function churn() {
  for (let i = 0; i < 5000; ++i) new Garbage(i);
}
churn();
const isBusy = process.argv[2] === 'busy';
if (isBusy) {
  const { Worker } = require('worker_threads');
  const code = `class InWorker { constructor(i) { this.i = i; } }
    globalThis.all = []; for (let i = 0; i < 400; ++i) all.push(new InWorker(i));
    class Garbage {}
    setInterval(() => { for (let i = 0; i < 20000; ++i) new Garbage(); }, 1);
    require('worker_threads').parentPort.postMessage('ready');`;
  new Worker(code, { eval: true }).on('message', () => console.log('ready'));
  setInterval(churn, 1);
} else {
  console.log('ready');
}
process.stdin.on('data', (data) => {
  const order = String(data).trim();
  if (order === 'grow') {
    for (let i = 0; i < 400; ++i) byKey.set('more' + byKey.size, new Kept(i));
    console.log('grown');
  } else {
    require('v8').writeHeapSnapshot(order);
    console.log('written');
  }
});
