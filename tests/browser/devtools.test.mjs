// `nodescope record --engine inspector` of a process that Chromium's DevTools hold.
//   node --test devtools.test.mjs     with NODESCOPE=path of the program
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';

const folder = mkdtempSync(join(tmpdir(), 'nodescope-devtools-'));
let browser;
let service;
let said = '';

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function until(holds) {
  for (let i = 0; i < 600 && !holds(); i++) await sleep(100);
  assert.ok(holds(), said);
}

before(async () => {
  const script = join(folder, 'service.js');
  writeFileSync(script, 'function turn() { const end = Date.now() + 20; while (Date.now() < end); }\nsetInterval(turn, 30);\n');
  service = spawn(process.execPath, ['--inspect=127.0.0.1:0', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  service.stderr.on('data', (text) => (said += text));
  await until(() => /ws:\/\/\S+\n/.test(said));
  const port = await freePort();
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', `--remote-debugging-port=${port}`, '--remote-allow-origins=*'],
  });
  const page = await browser.newPage();
  const address = /ws:\/\/(\S+)\n/.exec(said)[1];
  await page.goto(`http://127.0.0.1:${port}/devtools/js_app.html?v8only=true&experiments=true&ws=${address}`);
  await until(() => said.includes('Debugger attached.'));
});

after(async () => {
  await browser?.close();
  service?.kill();
  rmSync(folder, { recursive: true, force: true });
});

test('both can use it, and DevTools stay connected', async () => {
  const output = join(folder, 'out.cpuprofile');
  const done = spawnSync(process.env.NODESCOPE, ['record', String(service.pid), '--engine', 'inspector', '-d', '1', '--no-open', '-o', output], {
    encoding: 'utf8',
  });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stderr, /its inspector is open on 127\.0\.0\.1:/);
  assert.ok(JSON.parse(readFileSync(output, 'utf8')).samples.length > 10);
  await sleep(300);
  assert.equal(service.exitCode, null);
  assert.ok(!said.includes('Debugger ending'), said);
});
