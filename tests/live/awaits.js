'use strict';
// A known population of async functions that wait.  On stdout: one line of JSON, {chains: {"query < handler": 750}, suspended,
// resting}; then it stays.  COUNT=100000 adds so many more of one kind.
const waiting = [];
const never = () => new Promise((resolve) => { waiting.push(resolve); });
const many = (count, make) => Array.from({ length: count }, (_, index) => make(index));
const expected = {};
let suspended = 0;
const kept = [];

function expect(chain, count) {
  expected[chain] = (expected[chain] || 0) + count;
}

async function query() { await never(); }
async function handler() { const rows = await query(); return rows; }
async function route() { await handler(); }
many(750, () => kept.push(route()));
expect('query < handler < route', 750);
suspended += 3 * 750;

async function part() { await never(); }
async function fan() { await Promise.all([Promise.resolve(1), part()]); }
many(50, () => kept.push(fan()));
expect('part < Promise.all 1 < fan', 50);
suspended += 2 * 50;

async function settled() { await Promise.allSettled([part(), 1]); }
async function any() { await Promise.any([part(), never()]); }
async function race() { await Promise.race([part()]); }
many(20, () => { kept.push(settled()); kept.push(any()); kept.push(race()); });
expect('part < Promise.allSettled 0 < settled', 20);
expect('part < Promise.any 0 < any', 20);
expect('part < race', 20);
suspended += 6 * 20;

// Nobody below the combinator.
async function bare() { await Promise.all([never()]); }
async function bareTwo() { await Promise.all([never(), never()]); }
many(30, () => { kept.push(bare()); kept.push(bareTwo()); });
expect('Promise.all 0 < bare', 30);
expect('Promise.all < bareTwo', 30);
suspended += 60;

async function* rows() { yield 1; await never(); }
async function consume() { for await (const row of rows()) kept.push(row); }
many(40, () => kept.push(consume()));
expect('rows < consume', 40);
suspended += 80;

// One lock for many.
async function lock() { await never(); }
const held = lock();
async function waitsForLock() { await held; }
async function outer() { await waitsForLock(); }
many(250, () => kept.push(outer()));
expect('lock < waitsForLock < outer', 250);
suspended += 1 + 500;

async function thenned() { await never().then((row) => row).finally(() => {}); }
many(30, () => kept.push(thenned()));
expect('thenned', 30);
suspended += 30;

// They wait for each other.
let first;
async function chicken() { await null; await first; }
async function egg() { await chicken(); }
first = egg();
kept.push(first);
suspended += 2;

class Service {
  async load() { await never(); }
  async #hidden() { await this.load(); }
  async run() { await this.#hidden(); }
}
many(10, () => kept.push(new Service().run()));
expect('load < #hidden < run', 10);
suspended += 30;

// Rest at a yield.
async function* idle() { yield 1; yield 2; }
let resting = 0;
async function rest() {
  for (let i = 0; i < 15; ++i) { const it = idle(); await it.next(); kept.push(it); ++resting; }
}

// Nothing refers to them.
async function dropped() { await new Promise(() => {}); }
many(100, dropped);

// Have ended.
async function finished() { await null; }

const count = Number(process.env.COUNT || 0);
async function leaf() { await never(); }
async function request() { await leaf(); }
many(count, () => kept.push(request()));
if (count > 0) expect('leaf < request', count);
suspended += 2 * count;

rest().then(() => Promise.all(many(5000, finished))).then(() => setTimeout(() => {
  const lines = { chains: expected, circle: 'chicken < egg', suspended, resting };
  process.stdout.write(JSON.stringify(lines) + '\n');
  setInterval(() => kept.length, 1000);
}, 10));
