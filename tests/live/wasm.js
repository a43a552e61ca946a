'use strict';
// WebAssembly that works without end: a recursive function `fib`, which the module's own list of names has.
const bytes = Uint8Array.from([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, // (i32) -> i32
  3, 2, 1, 0,
  7, 7, 1, 3, 0x66, 0x69, 0x62, 0, 0, // export "fib"
  // n < 2 ? n : fib(n - 1) + fib(n - 2)
  0x0a, 0x1e, 1, 0x1c, 0, 0x20, 0, 0x41, 2, 0x48, 4, 0x7f, 0x20, 0, 5, 0x20, 0, 0x41, 1, 0x6b, 0x10, 0, 0x20, 0, 0x41, 2, 0x6b,
  0x10, 0, 0x6a, 0x0b, 0x0b,
  0, 0x0d, 4, 0x6e, 0x61, 0x6d, 0x65, 1, 6, 1, 0, 3, 0x66, 0x69, 0x62, // function 0 is "fib"
]);

function makeFib() {
  return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports.fib;
}
const fib = makeFib();

function callWasm() {
  return fib(25);
}

callWasm();
// V8 writes a jitdump in pieces of some kilobytes: what it says about the first is in the file once there are many.
for (let i = 0; i < 200; i++) makeFib()(2);
console.log('ready');
for (;;) callWasm();
