'use strict';
// The worst case for a reader from outside: every function that runs is a young closure, and the collector moves them all
// the time.  A stack is complete when all four are there.
function makeOuter(keep) {
  return function outer(count) {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const middle = function middle(value) {
        const inner = function inner(number) {
          const leaf = function leaf(n) {
            let total = 0;
            for (let k = 0; k < 400; k++) {
              total += keep.push({ n, k }) % 7;
              if (keep.length > 2000) keep.length = 0;
            }
            return total;
          };
          return leaf(number) + 1;
        };
        return inner(value) + 1;
      };
      sum += middle(i);
    }
    return sum;
  };
}

let sink = 0;
function loop() {
  const end = Date.now() + 50;
  while (Date.now() < end) {
    const outer = makeOuter([]);
    sink += outer(20);
  }
  setImmediate(loop);
}
process.stdout.write('ready\n');
loop();
