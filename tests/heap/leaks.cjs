// Grows in one of many ways and writes three snapshots of itself, of before and after each half of the growth.
//   node leaks.cjs SCENARIO FOLDER
'use strict';
const v8 = require('node:v8'), path = require('node:path'), {EventEmitter} = require('node:events');
const {Worker} = require('node:worker_threads'), {AsyncLocalStorage} = require('node:async_hooks');
const [, , name, folder] = process.argv;
const rounds = 1500;
const times = (count, make) => { for (let i = 0; i < count; ++i) make(i); };

class Voucher { constructor(i) { this.id = 'voucher-' + i; this.lines = [{sku: 'a' + i}, {sku: 'b' + i}]; } }
class Ledger { constructor() { this.entries = new Map(); } add(i) { this.entries.set('k' + i + Math.random(), new Voucher(i)); } }
class Session { constructor(i) { this.user = {name: 'user' + i}; } }
class Store { static items = []; static add(i) { Store.items.push(new Session(i)); } }
class Link { constructor(next) { this.next = next; this.value = 'v' + Math.random(); } }
class Job { constructor(i) { this.payload = new Array(8).fill(i); } }
class Buffered { constructor(i) { this.data = Buffer.alloc(3000, i); } }
class Lru { constructor(limit) { this.limit = limit; this.map = new Map(); }
  set(key, value) { this.map.set(key, value); if (this.map.size > this.limit) this.map.delete(this.map.keys().next().value); } }

const ledger = new Ledger(), bus = new EventEmitter().setMaxListeners(0), cache = {}, tasks = [], waiting = [], seen = new Set();
const lru = new Lru(500), storage = new AsyncLocalStorage(), weak = new WeakMap(), keys = [];
class Poller { constructor(i) { this.name = 'poller' + i; this.timer = setInterval(() => this.name.length, 1e6).unref(); } }
class Tree { constructor() { this.root = null; }
  add(key) { const node = new Branch(key); let at = this.root; if (!at) { this.root = node; return; }
    for (;;) { const side = key < at.key ? 'left' : 'right'; if (!at[side]) { at[side] = node; return; } at = at[side]; } } }
class Branch { constructor(key) { this.key = key; this.left = null; this.right = null; } }
class Client { constructor(target, i) { this.name = 'client' + i; target.addEventListener('tick', () => this.name); } }
const tree = new Tree(), target = new EventTarget(), tenants = new Map([...'abcde'].map(name => [name, []])), samples = [];
require('node:events').setMaxListeners(0, target);
async function work(i) { const job = new Job(i); await gate; return job; }
const handlers = [], gate = new Promise(() => {});
let head = null, tail = null, first = null, text = [], warm = null;
function subscribe(i) { const big = {rows: new Array(20).fill(i)}; bus.on('tick', function onTick() { return big.rows.length; }); }
function remember(i) { const big = {rows: new Array(20).fill(i)}; handlers.push(() => big); }

const scenarios = {
  map: () => times(rounds, i => ledger.add(i)),
  listeners: () => times(rounds, subscribe),
  closures: () => times(rounds, remember),
  global_array: () => { globalThis.leak ??= []; times(rounds, i => globalThis.leak.push(new Job(i))); },
  timers: () => times(rounds, i => setInterval(() => tasks.length + i, 1e6).unref()),
  module_cache: () => times(rounds, i => { cache['key' + i + Math.random()] = new Session(i); }),
  promises: () => times(rounds, i => new Promise(done => waiting.push({done, job: new Job(i)}))),
  promise_chain: () => times(rounds, i => { gate.then(() => new Job(i)); }),
  async_functions: () => times(rounds, work),
  race: () => times(rounds, i => Promise.race([gate, Promise.resolve(new Job(i))])),
  own_timers: () => times(rounds, i => new Poller(i)),
  event_target: () => times(rounds, i => new Client(target, i)),
  several_arrays: () => times(rounds, i => tenants.get('abcde'[i % 5]).push(new Job(i))),
  tree: () => times(rounds, () => tree.add(Math.random())),
  numbers: () => times(Math.max(rounds, samples.length), () => samples.push(Math.random())),
  static_field: () => times(rounds, i => Store.add(i)),
  list_front: () => times(rounds, () => { head = new Link(head); }),
  list_back: () => times(rounds, () => { const link = new Link(null); if (tail) tail.next = link; else first = link; tail = link; }),
  set: () => times(rounds, i => seen.add(new Session(i))),
  buffers: () => times(rounds / 5, i => tasks.push(new Buffered(i))),
  strings: () => times(rounds, i => text.push(`line ${i} ${Math.random()}`.repeat(5))),
  weak_values: () => times(rounds, i => { const key = new Job(i); keys.push(key); weak.set(key, new Session(i)); }),
  plain_objects: () => times(rounds, i => tasks.push({order: 'o' + i, customer: {name: 'n' + i}})),
  // These do not leak.
  limited_cache: () => times(rounds, i => lru.set('k' + Math.random(), new Session(i))),
  churn: () => { let kept = []; times(rounds, i => kept.push(new Job(i))); kept = null; },
  warm_up: () => { warm ??= Array.from({length: 800}, (_, i) => new Session(i)); for (const part of ['http', 'zlib', 'crypto', 'url', 'readline', 'dns', 'tls', 'http2']) require('node:' + part); },
  idle: () => {},
};

async function shot(number) {
  await new Promise(done => setTimeout(done, 20));
  v8.writeHeapSnapshot(path.join(folder, `${name}-${number}.heapsnapshot`));
}
(async () => {
  const grow = scenarios[name];
  times(3, grow);   // code is compiled, shapes are settled
  await shot(1);
  grow();
  await shot(2);
  grow();
  await shot(3);
  process.exit(0);
})();
