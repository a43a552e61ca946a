#!/usr/bin/env node
'use strict';
// Starts the program of the package for this platform, and ends as it does.
const { spawn } = require('child_process');

const platform = `@nodescope/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${platform}/bin/nodescope`);
} catch {
  console.error(`nodescope: there is no ${platform} here. Linux on x86-64 is supported; npm must not leave out optional dependencies.`);
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// A terminal sends Ctrl-C to both; it is the program that decides when it has ended.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`nodescope: starting ${program}: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
