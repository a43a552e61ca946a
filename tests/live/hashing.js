'use strict';
// Hashes in OpenSSL's assembly code all the time, on the main thread and in libuv's pool.
const crypto = require('crypto');
function hashPassword(n) {
  return crypto.pbkdf2Sync('secret', 'salt' + n, 20000, 64, 'sha512');
}
function login(n) {
  return hashPassword(n).length;
}
(function inThePool() {
  crypto.pbkdf2('secret', 'salt', 20000, 64, 'sha512', inThePool);
})();
let n = 0;
process.stdout.write('ready\n');
(function loop() {
  login(n++);
  setImmediate(loop);
})();
