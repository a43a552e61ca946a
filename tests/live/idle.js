'use strict';
// Does a little, often.
process.stdout.write('ready\n');
setInterval(function tick() {
  const end = Date.now() + 5;
  while (Date.now() < end);
}, 20);
