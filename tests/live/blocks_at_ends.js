// A loop that is blocked in the middle of things, when it is told to: 'exit' ends the process within a block of 400 ms, 'forever'
// never comes back, 'collect' collects garbage for a while.
const kept = [];
function spin(ms) { for (const end = Date.now() + ms; Date.now() < end;); }
function blockAndExit() { spin(400); process.exit(); }
function blockForever() { for (;;) spin(100); }
function buildRows() {
  for (let i = 0; i < 40; ++i) {
    kept.push(Array.from({ length: 20_000 }, (_, index) => ({ index, name: `row ${index}` })));
    if (kept.length > 5) kept.shift();
  }
}
const work = { exit: blockAndExit, forever: blockForever, collect: () => { buildRows(); setTimeout(() => process.exit(), 500); } };

setInterval(() => {}, 20);
process.stdin.once('data', () => setTimeout(work[process.argv[2]], 300));
console.log('ready');
