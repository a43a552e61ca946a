// `nodescope view` opens a real browser, on a display that nobody looks at.
//   node --test opening.test.mjs     with NODESCOPE=path of the program
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'nodescope-opening-'));
const program = join(folder, 'nodescope'); // another user may not read the folder of the build
const recording = join(folder, 'input.cpuprofile');
const isRoot = process.getuid() === 0;
const user = isRoot ? 12345 : process.getuid();
let screen;
let display;

const missing = ['Xvfb', 'xdg-open'].filter((name) => !(process.env.PATH ?? '').split(':').some((part) => existsSync(join(part, name))));
const skip = missing.length > 0 && `${missing.join(' and ')} not installed`;

before(async () => {
  if (skip) return;
  chmodSync(folder, 0o777);
  copyFileSync(process.env.NODESCOPE, program);
  copyFileSync(join(root, 'tests/golden/cpuprofile/node20/input'), recording);
  chmodSync(recording, 0o644);
  screen = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1200x800x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  display = `:${(await new Promise((resolve, reject) => {
    screen.stdio[3].once('data', resolve);
    screen.once('exit', (code) => reject(new Error(`Xvfb ended with ${code}`)));
  })).toString().trim()}`;
});

after(() => {
  screen?.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 }); // a browser that ends still writes
});

// What xdg-open finds as the browser of the system: Chromium that can be looked into, and that says who has started it.
function installBrowser(name) {
  const home = join(folder, name);
  mkdirSync(home);
  chmodSync(home, 0o777);
  writeFileSync(join(home, 'x-www-browser'), `#!/bin/sh
id -u > '${home}/who'
exec '${process.env.CHROMIUM || '/usr/bin/chromium'}' --no-sandbox --disable-gpu --no-first-run --password-store=basic --user-data-dir='${home}/profile' --remote-debugging-port=0 "$@"
`);
  chmodSync(join(home, 'x-www-browser'), 0o755);
  return home;
}

async function until(found, what) {
  for (let i = 0; i < 300; i++) {
    const result = await found();
    if (result) return result;
    await sleep(100);
  }
  assert.fail(`no ${what} within 30 s`);
}

async function assertOpens(name, environment, options) {
  const home = installBrowser(name);
  // No desktop has its own idea of a browser here.
  const env = { PATH: `${home}:${process.env.PATH}`, HOME: home, DISPLAY: display, XDG_DATA_DIRS: home, XDG_CONFIG_DIRS: home, LANG: 'C.UTF-8', ...environment(home) };
  const server = spawn(program, ['view', recording], { env, stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let said = '';
  server.stdout.on('data', (data) => (said += data));
  server.stderr.on('data', (data) => (said += data));
  let browser;
  try {
    const port = await until(() => existsSync(join(home, 'profile/DevToolsActivePort')) && readFileSync(join(home, 'profile/DevToolsActivePort'), 'utf8').split('\n')[0], `browser: ${said}`);
    const address = /http:\/\/\S+/.exec(said)[0];
    // Whoever connects while the page is being made may never hear of it.
    const targets = async () => (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
    await until(async () => (await targets().catch(() => [])).some(({ url }) => url.startsWith(address)), `page at ${address}`);
    browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
    const page = await until(() => browser.contexts().flatMap((context) => context.pages()).find((one) => one.url().startsWith(address)), `page at ${address}`);
    await page.locator('[data-testid=functions] .tr').first().waitFor();
    assert.equal(readFileSync(join(home, 'who'), 'utf8').trim(), String(user));
    assert.match(said, /Opening it in the browser/);
    const session = await browser.newBrowserCDPSession();
    await session.send('Browser.close').catch(() => {});
    await sleep(500);
    assert.equal(server.exitCode, null, 'the server goes on without the browser');
    assert.doesNotMatch(said, /No browser has opened/);
  } finally {
    await browser?.close().catch(() => {});
    server.kill('SIGINT');
    await new Promise((resolve) => server.once('exit', resolve));
  }
  assert.equal(server.exitCode, 0);
}

test('the browser of the system opens with the page', { skip }, async () => {
  await assertOpens('system', () => ({}), isRoot ? { uid: user, gid: user } : {});
});

test('that of $BROWSER too', { skip }, async () => {
  await assertOpens('chosen', (home) => ({ BROWSER: `${home}/x-www-browser --start-maximized %s`, PATH: process.env.PATH }), isRoot ? { uid: user, gid: user } : {});
});

test('root opens it as the user who called sudo', { skip: skip || (!isRoot && 'needs root') }, async () => {
  await assertOpens('sudo', () => ({ SUDO_UID: String(user), SUDO_GID: String(user), SUDO_USER: 'somebody' }));
});

test('a display that is not there is told, and the page is served', { skip }, async () => {
  const home = installBrowser('nowhere');
  const env = { PATH: `${home}:/usr/bin:/bin`, HOME: home, DISPLAY: ':987', XDG_DATA_DIRS: home, XDG_CONFIG_DIRS: home };
  const server = spawn(program, ['view', recording], { env, stdio: ['ignore', 'pipe', 'pipe'], ...(isRoot ? { uid: user, gid: user } : {}) });
  let said = '';
  server.stdout.on('data', (data) => (said += data));
  server.stderr.on('data', (data) => (said += data));
  try {
    await until(() => /No browser has opened: xdg-open ended with code \d+\. Open the address above/.test(said), `word about it: ${said}`);
    assert.equal((await fetch(/http:\/\/\S+/.exec(said)[0])).status, 200);
  } finally {
    server.kill('SIGINT');
    await new Promise((resolve) => server.once('exit', resolve));
  }
});
