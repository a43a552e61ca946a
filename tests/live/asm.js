'use strict';
// asm.js, which V8 compiles as WebAssembly: a module without bytes of its own, whose functions have names only where the
// process writes them down.
function Module() {
  'use asm';
  function fib(n) {
    n = n | 0;
    if ((n | 0) < 2) return n | 0;
    return ((fib((n - 1) | 0) | 0) + (fib((n - 2) | 0) | 0)) | 0;
  }
  return { fib: fib };
}
const fib = Module().fib;

fib(25);
// V8 writes a jitdump in pieces of some kilobytes: what it says about the first is in the file once there are many.
for (let i = 0; i < 200; i++) new Function(`return ${Module}`)()().fib(2);
console.log('ready');
for (;;) fib(25);
