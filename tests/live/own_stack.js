'use strict';
// Preloaded into any program (node -r): while the program calls common builtins it now and then writes down what V8 says
// about its stack and stops its own process, so that a reader from outside sees the same moment.
//   STACKS_FILE: one line of JSON per stop: {thread, frames: [{name, file, line, column}]}
//   STACKS_GO: grows by a byte when the stop may end
//   STACKS_FIRST_MS, STACKS_GAP_MS: of the process's own CPU time, so that a busy machine changes nothing
const fs = require('fs');
const { threadId } = require('worker_threads');

const { STACKS_FILE, STACKS_GO, STACKS_FIRST_MS, STACKS_GAP_MS } = process.env;
const owner = process.env.STACKS_PID || String(process.pid);
process.env.STACKS_PID = owner;  // not in the processes that the program starts

// Builtins that compilers, bundlers and servers call all the time, in optimized code too.
const kHooked = {
  Map: ['get', 'has', 'set'], Set: ['has', 'add'], WeakMap: ['get'], Array: ['push', 'join'],
  String: ['charCodeAt', 'indexOf'], RegExp: ['test', 'exec'],
};
const kCallsBetweenLooks = 64;

const isOwner = owner === String(process.pid);
const file = isOwner ? fs.openSync(STACKS_FILE, 'a') : -1;
const go = isOwner ? fs.openSync(STACKS_GO, 'r') : -1;
const { kill, cpuUsage } = process;
const { apply } = Reflect;
const { fstatSync, writeSync } = fs;
const { random } = Math;
const { stringify } = JSON;
const wait = Atomics.wait.bind(Atomics, new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
const milliseconds = () => { const { user, system } = cpuUsage(); return (user + system) / 1000; };

let calls = 0;
let next = milliseconds() + Number(STACKS_FIRST_MS);
let isStopping = false;

function frameOf(site) {
  return {
    name: site.getFunctionName() || '',
    file: site.getFileName() || site.getScriptNameOrSourceURL() || '',
    line: site.getLineNumber(),
    column: site.getColumnNumber(),
    builtin: site.isNative() || (!site.getFileName() && !site.isEval()),
    async: site.isAsync(),
  };
}

function stopHere() {
  isStopping = true;
  const { stackTraceLimit, prepareStackTrace } = Error;
  try {
    Error.stackTraceLimit = 10000;
    Error.prepareStackTrace = (_, sites) => sites.map(frameOf);
    const frames = new Error().stack;
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
    writeSync(file, stringify({ thread: threadId, frames }) + '\n');
    const { size } = fstatSync(go);
    kill.call(process, process.pid, 'SIGSTOP');
    // On a busy machine the signal takes a while to reach every thread, and this must still be on the stack.
    while (fstatSync(go).size === size) wait();
  } finally {
    isStopping = false;
    next = milliseconds() + 2 * random() * Number(STACKS_GAP_MS);
  }
}

function hook(prototype, name) {
  const property = Object.getOwnPropertyDescriptor(prototype, name);
  const original = property.value;
  const { [name]: hooked } = {
    [name](...list) {
      calls += 1;
      if (calls % kCallsBetweenLooks === 0 && !isStopping && milliseconds() >= next) stopHere();
      return apply(original, this, list);
    },
  };
  Object.defineProperty(prototype, name, { ...property, value: hooked });
}

if (isOwner) {
  for (const [type, names] of Object.entries(kHooked)) names.forEach((name) => hook(globalThis[type].prototype, name));
}
