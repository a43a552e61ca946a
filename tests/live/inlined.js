'use strict';
// Small functions that V8 inlines, whose shares the program knows: heavy() does three times the work of light().
let state = 1;
function step(n) {
  state = (Math.imul(state, 1103515245) + 12345 + n) | 0;
  return state;
}
function light(n) {
  let sum = 0;
  for (let i = 0; i < 100; i++) sum += step(i) & n;
  return sum;
}
function heavy(n) {
  let sum = 0;
  for (let i = 0; i < 300; i++) sum += step(i) | n;
  return sum;
}
function both(n) {
  return light(n) + heavy(n);
}

let sink = 0;
function loop() {
  const end = Date.now() + 50;
  while (Date.now() < end) {
    for (let i = 0; i < 1000; i++) sink += both(i);
  }
  setImmediate(loop);
}
process.stdout.write('ready\n');
loop();
