// A loop that is blocked for 50, 300 and 1500 ms at known times, in the main thread and in a worker; prints what it did as
// JSON at the end: [{"thread": …, "name": …, "begin": ns, "end": ns}, …] by CLOCK_MONOTONIC.
const { Worker, isMainThread, parentPort } = require('worker_threads');
const done = [];

function spin(ms) {
  const end = process.hrtime.bigint() + BigInt(Math.round(ms * 1e6));
  let sum = 0;
  while (process.hrtime.bigint() < end) sum = (sum * 31 + 7) % 1000003;
  return sum;
}
function blockShort() { return spin(50); }
function blockMiddle() { return spin(300); }
function blockLong() { return spin(1500); }

function run(functions, finish) {
  const [next, ...rest] = functions;
  if (!next) return setTimeout(finish, 300);
  setTimeout(() => {
    const begin = process.hrtime.bigint();
    next();
    done.push({ thread: isMainThread ? 'main' : 'worker', name: next.name, begin: Number(begin), end: Number(process.hrtime.bigint()) });
    run(rest, finish);
  }, 400);
}

if (isMainThread) {
  // Something to do between the blocks, so that the loop turns.
  setInterval(() => spin(0.2), 20);
  const worker = process.argv[2] === 'worker' ? new Worker(__filename) : null;
  let workers = [];
  worker?.on('message', (message) => { workers = message; });
  const begin = () => {
    console.log('ready');
    process.stdin.once('data', () => run([blockShort, blockMiddle, blockLong], () => setTimeout(() => {
      console.log(JSON.stringify([...done, ...workers]));
    }, 1500)));
    process.stdin.on('end', () => process.exit());
  };
  if (worker) worker.once('online', begin); else begin();
  process.stdin.once('data', () => worker?.postMessage('go'));
} else {
  setInterval(() => {}, 20);
  parentPort.once('message', () => setTimeout(() => run([blockMiddle], () => parentPort.postMessage(done)), 700));
}
