// Ends, or waits, with a value of every kind on its stack: core_values.js wait|abort|throw.  Its only line says what
// the stack is, as V8 itself tells it.
'use strict';
class Base { constructor() { this.base = 1; } }
class Leaky extends Base {
  #secret = 'hidden';
  constructor(number) { super(); this.number = number; }
  secret() { return this.#secret; }
}

function capturing() {
  let counter = 41;
  const word = 'kept';
  counter++;
  return function closure(x) { counter += 0; return counter + word + x; };
}

class OwnBytes extends Uint8Array {}
class Methods { #hidden() { return this; } call() { return this.#hidden(); } }
const large = {};
for (let i = 0; i < 2000; i++) large['key' + i] = i;

const sparse = [];
sparse[1000000] = 'far';
const dictionary = {};
for (let i = 0; i < 100; i++) dictionary['key' + i] = i;
for (let i = 3; i < 100; i++) delete dictionary['key' + i];
const resolved = Promise.resolve('done');
const rejected = Promise.reject(new RangeError('out of range'));
rejected.catch(() => {});
const wide = 'žluťoučký kůň '.repeat(2);
const held = { held: true };

const values = {
  undefined: undefined, null: null, true: true, false: false,
  smi: -7, double: 1.5, negative_zero: -0, infinite: -Infinity, nan: NaN,
  bigint: -(2n ** 100n), small_bigint: 12n,
  latin1: 'text', wide, cons: 'a long beginning of it ' + process.argv[2] + ' and its end',
  sliced: ('0123456789'.repeat(10)).slice(5, 45),
  symbol: Symbol('a symbol'),
  array: [1, 'two', , 4.5], doubles: [0.5, , 2.5], sparse, many: Array.from({ length: 500 }, (_, i) => i),
  map: new Map([['one', 1], ['gone', 0], [held, 'object']]), set: new Set([1, 'two']),
  weakmap: new WeakMap([[held, 'kept by key']]), weakset: new WeakSet([held]), weakref: new WeakRef(held),
  pending: new Promise(() => {}), resolved, rejected,
  date: new Date(Date.UTC(2026, 10, 18, 21, 43, 52, 7)), regexp: /a+b/gi,
  error: new TypeError('wrong type'), proxy: new Proxy({ target: 1 }, {}),
  buffer: Buffer.from('hello buffer'), floats: new Float64Array([1.5, -2]), bytes: new Uint8Array([1, 2, 255]).buffer,
  leaky: new Leaky(42), closure: capturing(), arrow: () => 1, dictionary, large,
  view: new DataView(new Uint8Array([1, 2, 255]).buffer, 1), own_bytes: new OwnBytes([7, 8]), long_buffer: Buffer.alloc(3000, 1),
  methods: new Methods(),
  get accessor() { return 1; }, 7: 'indexed',
};
values.map.delete('gone');

function innermost(all, text, number) {
  const stack = new Error().stack.split('\n').slice(1).map((line) => line.trim());
  require('node:fs').writeSync(1, JSON.stringify({ pid: process.pid, version: process.versions.node, stack }) + '\n');
  if (text === 'abort') process.abort();
  if (text === 'throw') throw Object.assign(new Error('boom'), { all });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return number;
}

class Service {
  run(text) { return innermost(values, text, 3) + 1; }
}

setTimeout(function started() { new Service().run(process.argv[2]); }, 1);
