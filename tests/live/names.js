'use strict';
// Functions that get their names when the program runs.  Some are made again and again, with another name each time, and the
// collector moves them while they run; the others stay.
function work() {
  let sum = 0;
  for (let i = 0; i < 300; i++) sum += [i, { i }].length;
  return sum;
}

function make(key) { return { [key]() { return work() + 1; } }; }
function callFoo() { return make('foo').foo() + 1; }
function callBar() { return make('bar').bar() + 1; }

const symbol = Symbol('by symbol');
const kept = { [symbol]: () => work() + 1, ['odd name']: function () { return work() + 1; } };
class Keyed { ['ke' + 'yed']() { return work() + 1; } }
const instance = new Keyed();
const defined = Object.defineProperty(function () { return work() + 1; }, 'name', { value: 'given' });
function callSymbol() { return kept[symbol]() + 1; }
function callOdd() { return kept['odd name']() + 1; }
function callKeyed() { return instance.keyed() + 1; }
function callGiven() { return defined() + 1; }

let sink = 0;
function loop() {
  const end = Date.now() + 50;
  while (Date.now() < end) sink += callFoo() + callBar() + callSymbol() + callOdd() + callKeyed() + callGiven();
  setImmediate(loop);
}
console.log('ready');
loop();
