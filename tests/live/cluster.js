'use strict';
// A master with two workers and a forked child.  Each says "ready" with what it is and its pid.
const cluster = require('cluster');
const { fork } = require('child_process');

function say(what) {
  process.stdout.write(JSON.stringify({ what, pid: process.pid }) + '\n');
}

if (process.argv[2] === 'child') {
  say('child');
} else if (cluster.isMaster) {
  cluster.fork();
  cluster.fork();
  fork(__filename, ['child']);
  say('master');
} else {
  say('worker');
}
setInterval(() => {}, 1000);
