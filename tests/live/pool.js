// Looks up a name, then keeps the pool of libuv busy with more hashes than it has threads, when it is told to; prints how long
// that took as JSON: {lookups: ms, hashes: ms}.
const crypto = require('crypto');
const dns = require('dns');
const done = {};

function hashPasswords(count, finish) {
  let left = count;
  const hashed = () => { if (--left === 0) finish(); };
  for (let i = 0; i < count; ++i) crypto.pbkdf2('password', `salt ${i}`, 100_000, 64, 'sha512', hashed);
}

function lookUp(finish) { dns.lookup('name.invalid', finish); }

function measure(name, work, then) {
  const begin = process.hrtime.bigint();
  work(() => {
    done[name] = Number(process.hrtime.bigint() - begin) / 1e6;
    then();
  });
}

process.stdin.once('data', () => {
  measure('lookups', lookUp, () => {
    measure('hashes', (finish) => hashPasswords(20, finish), () => {
      setTimeout(() => console.log(JSON.stringify(done)), 300);
    });
  });
});
process.stdin.on('end', () => process.exit());
console.log('ready');
