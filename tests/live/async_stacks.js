'use strict';
// Goes through kinds of asynchronous calls.  At each stop it writes down the asynchronous callers that V8 prints and stays
// there, in JavaScript or in a system call, until it is told to go on: the truth for a reader that looks from outside.
//   stdout: one line of JSON per stop: {stop, kind, thread, callers: [{name, file, line, column} | {combinator, index}]}
//   stdin:  a line per stop that may end
const fs = require('fs');
const { AsyncLocalStorage } = require('async_hooks');
const { EventEmitter, once, on } = require('events');
const { Readable } = require('stream');
const timers = require('timers/promises');
const { Worker, isMainThread, parentPort, workerData, threadId } = require('worker_threads');

const gate = isMainThread ? new Int32Array(new SharedArrayBuffer(4)) : workerData.gate;
let stop = isMainThread ? 0 : workerData.first;
let kind = '';

Error.stackTraceLimit = 300;

function callerOf(site) {
  const combinator = /^async (Promise\.\w+) \(index (\d+)\)/.exec(String(site));
  if (combinator) return { combinator: combinator[1], index: Number(combinator[2]) };
  const name = site.getFunctionName() || '';
  return {
    // Code of eval without a name of its own is called by where it was made.
    name: site.isEval() && name === 'eval' ? site.getEvalOrigin() : name,
    file: site.getFileName() || site.getScriptNameOrSourceURL() || '',
    line: site.getLineNumber(),
    column: site.getColumnNumber(),
  };
}

function say(line) {
  for (let rest = Buffer.from(line); rest.length > 0;) {
    try { rest = rest.subarray(fs.writeSync(1, rest)); } catch (error) { if (error.code !== 'EAGAIN') throw error; }
  }
}

function stay() {
  const prepare = Error.prepareStackTrace;
  Error.prepareStackTrace = (_, sites) => sites.filter((site) => site.isAsync()).map(callerOf);
  const callers = new Error().stack;
  Error.prepareStackTrace = prepare;
  stop += 1;
  say(JSON.stringify({ stop, kind, thread: threadId, callers }) + '\n');
  const mine = stop;
  if (mine % 2 === 0) while (Atomics.load(gate, 0) < mine);
  for (let now = Atomics.load(gate, 0); now < mine; now = Atomics.load(gate, 0)) Atomics.wait(gate, 0, now);
  return mine;
}

const later = () => new Promise((resolve) => setImmediate(resolve));
const soon = (value) => Promise.resolve(value);

async function leaf() { await later(); stay(); await soon(1); return stay(); }
async function deep(depth) { return depth === 0 ? await leaf() : (await deep(depth - 1)) + 1; }
async function passesOn() { return leaf(); }
async function first() { await null; return leafAfterAwait(); }
async function leafAfterAwait() { await null; stay(); }
const arrow = async () => { await leaf(); };
const expression = async function () { await leaf(); };

class Base {
  async method() { await leaf(); }
  static async make() { await leaf(); }
  async #secret() { await leaf(); }
  async reveal() { await this.#secret(); }
  async ['computed']() { await leaf(); }
  get property() { return (async () => { await leaf(); })(); }
}
class Derived extends Base {
  field = async () => { await super.method(); };
  async method() { await super.method(); }
}
class Special extends Promise {}

async function* numbers() {
  try {
    yield 1;
    await leaf();
    yield 2;
  } finally {
    await leaf();
  }
}
async function* delegates() { yield* numbers(); }
async function* maps(source) { for await (const value of source) { await soon(); yield value * 2; } }
async function sum(source) {
  let total = 0;
  for await (const value of source) total += value;
  return total;
}
async function leaves(source) { for await (const value of source) { if (value === 2) break; } }
async function nested() { return Promise.all([soon(1), Promise.all([leaf(), soon(2)]), soon(3)]); }
async function caught() { try { await rejects(); } catch { await leaf(); } finally { await leaf(); } }
async function rejects() { await later(); stay(); throw new Error('expected'); }
async function locally(storage) { await storage.run({ id: 7 }, async () => { await leaf(); }); }
async function evaluated() { await eval('(async () => { await leaf(); })()'); }
async function built() { await new Function('leaf', 'return (async function made() { await leaf(); })()')(leaf); }
async function emits() {
  const emitter = new EventEmitter();
  const waits = (async function waitsForEvent() { await once(emitter, 'go'); stay(); })();
  emitter.emit('go');
  await waits;
}
async function events() {
  const emitter = new EventEmitter();
  setImmediate(() => { emitter.emit('data', 1); emitter.emit('data', 2); });
  let seen = 0;
  for await (const [value] of on(emitter, 'data')) { stay(); if (++seen === value && value === 2) return; }
}
async function times() {
  await timers.setTimeout(1);
  stay();
  await timers.setImmediate();
  stay();
  for await (const _ of timers.setInterval(1)) { stay(); return; }
}
async function reads() {
  const handle = await fs.promises.open(__filename);
  stay();
  await handle.read(Buffer.alloc(8), 0, 8, 0);
  stay();
  await handle.close();
  await fs.promises.readFile(__filename);
  stay();
}
async function streams() { for await (const chunk of Readable.from(['a', 'b'])) { stay(); await soon(chunk); } }
async function wraps() { return new Promise((resolve, reject) => { leaf().then(resolve, reject); }); }
async function thenable() { await { then(resolve) { stay(); leaf().then(resolve); } }; }
async function shared() { const one = leaf(); await Promise.all([one, waits(one), waits(one)]); }
async function waits(promise) { await promise; stay(); }
async function forever(turns) { for (let turn = 0; turn < turns; ++turn) { await null; hot(turn); } stay(); }
function hot(turn) { return turn * 2; }

const scenarios = {
  'chain of one': () => arrow(),
  'deep chain': () => deep(30),
  'return of a promise': () => passesOn(),
  'before and after an await': () => first(),
  'function expression': () => expression(),
  'method': () => new Base().method(),
  'super method': () => new Derived().method(),
  'field with an arrow': () => new Derived().field(),
  'static method': () => Base.make(),
  'private method': () => new Base().reveal(),
  'computed method': () => new Base().computed(),
  'getter': () => new Base().property,
  'async generator': () => sum(numbers()),
  'generator that delegates': () => sum(delegates()),
  'pipeline of generators': () => sum(maps(maps(numbers()))),
  'generator that is left': () => leaves(numbers()),
  'for await of promises': () => sum([soon(1), leaf(), 3]),
  'queue of a generator': async () => { const it = numbers(); await Promise.all([it.next(), it.next(), it.return()]); },
  'Promise.all': async () => { await Promise.all([soon(1), leaf(), leaf()]); },
  'Promise.allSettled': async () => { await Promise.allSettled([leaf(), soon(1)]); },
  'Promise.any': async () => { await Promise.any([leaf(), Promise.reject(new Error('x'))]); },
  'Promise.race': async () => { await Promise.race([leaf(), later().then(later).then(later)]); },
  'nested combinators': () => nested(),
  'then': async () => { await leaf().then(() => { stay(); return leaf(); }).then(stay); },
  'catch': async () => { await rejects().catch(async () => { stay(); await leaf(); }); },
  'finally': async () => { await leaf().finally(() => { stay(); return leaf(); }); },
  'try, catch, finally': () => caught(),
  'class made from Promise': async () => { await Special.resolve().then(async () => { await leaf(); }); },
  'events.once': () => emits(),
  'events.on': () => events(),
  'timers/promises': () => times(),
  'fs.promises': () => reads(),
  'streams': () => streams(),
  'new Promise': () => wraps(),
  'thenable': () => thenable(),
  'several waiters': () => shared(),
  'AsyncLocalStorage': () => locally(new AsyncLocalStorage()),
  'eval': () => evaluated(),
  'new Function': () => built(),
  'often resumed': () => forever(20000),
  'queueMicrotask': () => new Promise((resolve) => { queueMicrotask(() => { stay(); resolve(); }); }),
  'nextTick': () => new Promise((resolve) => { process.nextTick(() => { stay(); resolve(); }); }),
  'timer': () => new Promise((resolve) => { setTimeout(() => { stay(); leaf().then(resolve); }, 1); }),
};

async function run() {
  for (const [name, scenario] of Object.entries(scenarios)) {
    kind = name;
    await scenario();
  }
}

async function everything() {
  await run();
  if (!isMainThread) { parentPort.postMessage('done'); return; }
  const worker = new Worker(__filename, { workerData: { gate, first: stop } });
  worker.on('message', () => { say('{"end": true}\n'); process.exit(0); });
}

if (isMainThread) {
  // Another thread opens the gate: this one does not come back to its event loop while it stays.
  new Worker(`
    const { workerData: gate } = require('worker_threads');
    const fs = require('fs');
    const byte = Buffer.alloc(1);
    while (fs.readSync(0, byte) === 1) if (byte[0] === 10) { Atomics.add(gate, 0, 1); Atomics.notify(gate, 0); }
    process.exit();
  `, { eval: true, workerData: gate });
}
everything();
