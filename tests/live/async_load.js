'use strict';
// Requests that are worked at in microtasks, each kind with a chain of callers that is known.  Spins are of milliseconds,
// so that some are over when their callers are looked up.
const soon = () => new Promise((resolve) => { setImmediate(resolve); });
function spin(milliseconds) {
  const end = process.hrtime.bigint() + BigInt(Math.round(milliseconds * 1e6));
  let turns = 0;
  while (process.hrtime.bigint() < end) for (let i = 0; i < 1000; ++i) turns += i;
  return turns;
}
async function queryUsers() { await soon(); spinUsers(); }
function spinUsers() { return spin(25); }
async function users() { await queryUsers(); }
async function queryOrders() { await soon(); spinOrders(); }
function spinOrders() { return spin(10); }
async function orders() { await Promise.all([queryOrders()]); }
async function parse() { await soon(); spinParse(); }
function spinParse() { return spin(1); }
async function upload() { await parse(); }
async function route(handler) { await handler(); }
async function server() {
  for (;;) {
    await route(users);
    await route(orders);
    for (let i = 0; i < 10; ++i) await route(upload);
  }
}
process.stdout.write('ready\n');
server();
