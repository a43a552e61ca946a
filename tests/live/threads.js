'use strict';
// A thread of each kind that works: two workers, one with a name, and one of libuv's pool.
const { Worker, isMainThread } = require('worker_threads');
const crypto = require('crypto');

if (isMainThread) {
  crypto.pbkdf2('password', 'salt', 2 ** 30, 64, 'sha512', () => {});
  let waiting = 2;
  const ready = () => { if (--waiting === 0) console.log('ready'); };
  for (const options of [{}, { name: 'resize-images' }]) new Worker(__filename, options).on('message', ready);
} else {
  require('worker_threads').parentPort.postMessage('ready');
  for (;;);
}
