// Waits for what functions are called after, each for 300 ms, and runs for 500 ms, when it is told to; prints how long as JSON:
// {function: ms}.
const { execSync } = require('child_process');
const fs = require('fs');
const { performance } = require('perf_hooks');
const fifo = process.argv[2];
const done = {};

function waitForLock() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300); }
function waitForChild() { execSync('sleep 0.3'); }
function waitForPipe() { fs.readFileSync(fifo); }
function runOnly() { for (const end = performance.now() + 500; performance.now() < end;); }

function measure(work) {
  const begin = process.hrtime.bigint();
  work();
  done[work.name] = Number(process.hrtime.bigint() - begin) / 1e6;
}

process.stdin.once('data', () => {
  measure(waitForLock);
  measure(waitForChild);
  measure(waitForPipe);
  measure(runOnly);
  setTimeout(() => console.log(JSON.stringify(done)), 200);
});
process.stdin.on('end', () => process.exit());
console.log('ready');
