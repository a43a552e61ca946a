'use strict';
// Goes through kinds of function and call.  In each it writes down what V8 says about the stack and then stays there, in
// a busy loop, until it is told to go on: the truth for a reader that looks from outside.
//   stdout: one line of JSON per stop: {stop, kind, thread, frames: [{name, file, line, column}]}
//   stdin:  a line per stop that may end
const fs = require('fs');
const vm = require('vm');
const { EventEmitter } = require('events');
const { Worker, isMainThread, parentPort, workerData, threadId } = require('worker_threads');

const gate = isMainThread ? new Int32Array(new SharedArrayBuffer(4)) : workerData.gate;
let stop = isMainThread ? 0 : workerData.first;
let kind = '';

Error.stackTraceLimit = 200;

function nameOf(site) {
  const name = site.getFunctionName();
  // Code without a name of its own is told by where it was made.
  if (name === 'eval' && site.isEval() && !site.getScriptNameOrSourceURL()) return site.getEvalOrigin();
  if (name) return name;
  if (site.isToplevel() || site.isConstructor()) return '';
  const method = site.getMethodName();
  return method ? `${site.getTypeName()}.${method}` : '';
}

function frameOf(site) {
  return {
    name: nameOf(site),
    file: site.getFileName() || site.getScriptNameOrSourceURL() || '',
    line: site.getLineNumber(),
    column: site.getColumnNumber(),
    builtin: site.isNative() || (!site.getFileName() && !site.isEval()),
    async: typeof site.isAsync === 'function' && site.isAsync(),
  };
}

// The pipe may be full for a moment.
function say(line) {
  for (let rest = Buffer.from(line); rest.length > 0;) {
    try { rest = rest.subarray(fs.writeSync(1, rest)); } catch (error) { if (error.code !== 'EAGAIN') throw error; }
  }
}

function record(error) {
  const prepare = Error.prepareStackTrace;
  Error.prepareStackTrace = (_, sites) => sites.map(frameOf);
  const frames = error.stack.filter((frame) => !frame.async);
  Error.prepareStackTrace = prepare;
  stop += 1;
  say(JSON.stringify({ stop, kind, thread: threadId, frames }) + '\n');
}

// The innermost function of every stop: all of it is on one line, so that the line is the same all the time.
function stay() { record(new Error()); const mine = stop; while (Atomics.load(gate, 0) < mine); return mine; }
function stayAgain(depth) { return depth === 0 ? stay() : stayAgain(depth - 1) + 1; }

function declaration() { return stay() + 1; }
const expression = function () { return stay() + 1; };
const named = function inner() { return stay() + 1; };
const arrow = () => stay() + 1;

class Base {
  constructor(go) {
    this.go = go;
    if (go) stay();
  }
  method() { return stay() + 1; }
  static factory() { return stay() + 1; }
  get property() { return stay() + 1; }
  set property(value) { stay(); }
  #secret() { return stay() + 1; }
  reveal() { return this.#secret() + 1; }
  overridden() { return stay() + 1; }
  *items() { yield stay() + 1; }
  [Symbol.toPrimitive](hint) { return stay() + 1; }
}
class Derived extends Base {
  constructor() {
    super(true);
    this.derived = 1;
  }
  overridden() { return super.overridden() + 1; }
}

const literal = {
  method() { return stay() + 1; },
  get value() { return stay() + 1; },
  arrow: () => stay() + 1,
  ['computed' + 1]() { return stay() + 1; },
  toJSON() { return stay() + 1; },
  toString() { stay(); return 'literal'; },
  valueOf() { return stay() + 1; },
};

const space = { inner: {} };
space.inner.deep = function () { return stay() + 1; };

const renamed = Object.defineProperty(function () { return stay() + 1; }, 'name', { value: 'given name' });
// Has neither a name nor an assignment to infer one from: only the receiver tells.
const anonymousMethods = [function () { return stay() + 1; }];
const holder = new Base(false);
Object.defineProperty(holder, 'found', { value: anonymousMethods[0] });

class Fields { value = stay() + 1; }
const mixin = (Parent) => class extends Parent { constructor() { super(false); stay(); } };

const größe = () => stay() + 1;

function withDefault(value = stay()) { return value; }
function tag(strings, ...values) { return stay() + values.length; }
function* counter() { yield 1; yield stay() + 1; }
async function eventually() { return stay() + 1; }
async function* stream() { yield stay() + 1; }
function caught() { try { throw new Error('x'); } catch { return stay() + 1; } }
function last() { try { return 1; } finally { stay(); } }

function hotLeaf(index, at) { return index === at ? stay() : index & 1; }
function hotMiddle(index, at) { return hotLeaf(index, at) + 1; }
function hotOuter(count, at) {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    sum += hotMiddle(i, at);
  }
  return sum;
}


const kinds = {
  'function declaration': () => declaration(),
  'function expression': () => expression(),
  'named function expression': () => named(),
  'arrow function': () => arrow(),
  'name with non-ASCII letters': () => größe(),
  'recursion': () => stayAgain(20),
  'class method': () => new Base(false).method(),
  'static method': () => Base.factory(),
  'getter': () => new Base(false).property,
  'setter': () => { new Base(false).property = 1; },
  'private method': () => new Base(false).reveal(),
  'constructor': () => new Base(true),
  'derived constructor': () => new Derived(),
  'field of a class': () => new Fields(),
  'static field of a class': () => { class Static { static value = stay() + 1; } return Static; },
  'constructor of a class without a name': () => new (mixin(Base))(),
  'eval with a source URL': () => eval('(function fromBundle() { return stay() + 1; })();\n//# sourceURL=bundle://app/orders.js'),
  'super call': () => Derived.prototype.overridden.call({ __proto__: Derived.prototype }),
  'symbol method': () => `${new Base(false)}`,
  'object method': () => literal.method(),
  'object getter': () => literal.value,
  'arrow in an object': () => literal.arrow(),
  'computed name': () => literal.computed1(),
  'toString': () => String(literal),
  'valueOf': () => literal - 1,
  'JSON.stringify': () => JSON.stringify(literal),
  'JSON.parse with a reviver': () => JSON.parse('[1]', function revive(key, value) { if (key === '0') stay(); return value; }),
  'assigned name': () => space.inner.deep(),
  'defined name': () => renamed(),
  'name by the receiver': () => holder.found(),
  'Array.map': () => [1].map((item) => stay() + item),
  'Array.forEach': () => [1].forEach(function each(item) { stay(); }),
  'Array.sort': () => [2, 1].sort((a, b) => { if (a + b === 3 && kind === 'Array.sort') stay(); kind = 'sorted'; return a - b; }),
  'Array.reduce': () => [1].reduce((sum, item) => stay() + item, 0),
  'String.replace': () => 'x'.replace(/x/, () => String(stay())),
  'Function.call': () => declaration.call(null),
  'Function.apply': () => declaration.apply(null, [1, 2]),
  'Function.bind': () => declaration.bind(null, 1)(),
  'Reflect.apply': () => Reflect.apply(declaration, null, []),
  'Reflect.construct': () => Reflect.construct(Base, [true]),
  'spread': () => declaration(...[1, 2, 3]),
  'proxy trap': () => new Proxy({}, { get() { return stay() + 1; } }).anything,
  'tagged template': () => tag`a${1}b`,
  'default parameter': () => withDefault(),
  'generator': () => [...counter()],
  'generator method': () => [...new Base(false).items()],
  'destructuring': () => { const [first] = new Base(false).items(); return first; },
  'async function': () => { eventually(); },
  'async generator': () => { stream().next(); },
  'catch': () => caught(),
  'finally': () => last(),
  'immediately called': () => (function () { return stay() + 1; })(),
  'closure': () => ((captured) => () => stay() + captured)(1)(),
  'eval': () => eval('stay() + 1'),
  'new Function': () => new Function('go', 'return go() + 1')(stay),
  'vm script': () => vm.runInThisContext('(go) => { return go() + 1; }', { filename: 'virtual.js', lineOffset: 9 })(stay),
  'event emitter': () => { const e = new EventEmitter(); e.on('go', function listener() { stay(); }); e.emit('go'); },
  'required module': () => require('./required.js')(stay),
  'optimized, inlined': () => { for (let i = 0; i < 60; i++) hotOuter(3000, -1); return hotOuter(3000, 2500); },
};

function run() {
  for (const [name, body] of Object.entries(kinds)) {
    kind = name;
    body();
  }
}

function after() {
  kind = 'setTimeout';
  setTimeout(function timer() {
    stay();
    kind = 'process.nextTick';
    process.nextTick(function tick() {
      stay();
      kind = 'promise';
      Promise.resolve().then(function then() {
        stay();
        kind = 'after await';
        (async function resumed() { await null; stay(); })().then(finish);
      });
    });
  }, 1);
}

function finish() {
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
    while (fs.readSync(0, byte) === 1) if (byte[0] === 10) Atomics.add(gate, 0, 1);
    process.exit();
  `, { eval: true, workerData: gate });
}
run();
after();
