// The page in real Chromium, on recordings of real programs.
//   node --test page.test.mjs     with NODESCOPE=path of the program
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const program = process.env.NODESCOPE;
const screenshots = process.env.SCREENSHOTS; // a folder: keep pictures for a look
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'nodescope-page-'));
const servers = [];
let browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
  execFileSync(program, ['record', '-o', join(folder, 'service.nscope'), '--no-open', '-F', '199', '--duration', '11', '--', 'node',
    join(root, 'examples/service.js'), '11'], { stdio: ['ignore', 'ignore', 'inherit'] });
});

after(async () => {
  await browser?.close();
  for (const server of servers) server.kill('SIGINT');
  rmSync(folder, { recursive: true });
});

// Starts `nodescope view` and gives its address.
function serve(...files) {
  const server = spawn(program, ['view', '--no-open', ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
  servers.push(server);
  return new Promise((resolve, reject) => {
    let text = '';
    server.on('exit', (code) => reject(new Error(`view ended with ${code}: ${text}`)));
    server.stdout.on('data', (data) => {
      text += data;
      const address = /http:\/\/\S+/.exec(text);
      if (address) resolve(address[0]);
    });
  });
}

// Opens an address; errors, dialogs and requests to anywhere else become the page's problems.
async function open(address, { hash = '', scheme = 'light', offline = false, viewport = { width: 1440, height: 900 } } = {}) {
  const context = await browser.newContext({ viewport, colorScheme: scheme, offline, acceptDownloads: true });
  const page = await context.newPage();
  const origin = new URL(address).origin;
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on('console', (message) => { if (message.type() === 'error') page.problems.push(message.text()); });
  page.on('dialog', (dialog) => { page.problems.push('dialog'); dialog.dismiss(); });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith('blob:') && !url.startsWith('data:') && !(origin === 'null' ? url.startsWith('file:') : url.startsWith(origin))) page.problems.push(url);
  });
  await page.goto(address + hash);
  await page.locator('[data-testid=functions] .tr').first().waitFor({ timeout: 60_000 });
  return page;
}

async function picture(page, name) {
  if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

// Waits until nothing on the page changes any more.
async function settled(page) {
  await page.waitForTimeout(150);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

async function drag(page, fromNs, toNs, modifiers = []) {
  const heat = page.getByTestId('heat');
  const box = await heat.boundingBox();
  const data = await heat.evaluate((e) => ({ ...e.dataset }));
  const [columnNs, rows, columns, rowHeight, first] = [data.columnNs, data.rows, data.columns, data.rowHeight, data.fromNs].map(Number);
  const plot = box.width - 152 - 16;
  const at = (ns) => {
    const column = Math.floor((ns - first) / columnNs);
    const row = Math.floor(((ns - first) % columnNs) / (columnNs / rows));
    return [box.x + 152 + (column + 0.5) * (plot / columns), box.y + 2 + (row + 0.5) * rowHeight];
  };
  for (const key of modifiers) await page.keyboard.down(key);
  await page.mouse.move(...at(fromNs));
  await page.mouse.down();
  await page.mouse.move(...at((fromNs + toNs) / 2));
  await page.mouse.move(...at(toNs - 1));
  await page.mouse.up();
  for (const key of modifiers) await page.keyboard.up(key);
  await settled(page);
}

const hashOf = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));
const rangeOf = (page) => hashOf(page).get('sel').split('-').map(Number);

// The rows of the list in sight: [self %, total %, name].
const rows = (page) => page.locator('[data-testid=functions] .tr').evaluateAll((list) => list.map((row) => [
  parseFloat(row.querySelector('.self em').textContent.replace('<', '')), parseFloat(row.querySelectorAll('.v')[1].textContent.replace('<', '')),
  row.querySelector('.nm').textContent]));

const reported = (file, ...args) => JSON.parse(execFileSync(program, ['report', file, '--json', '--limit', '0', ...args], { encoding: 'utf8', maxBuffer: 1 << 28 }));

test('every kind of file opens', async () => {
  const golden = join(root, 'tests/golden');
  const files = process.env.PAGE_FILES.split(':').map((file) => join(golden, file));
  for (const file of files) {
    const page = await open(await serve(file));
    assert.ok(Number(await page.getByTestId('flame').getAttribute('data-boxes')) > 1, file);
    assert.deepEqual(page.problems, [], file);
    await page.context().close();
  }
});

test('the stall of the sample service: selected in the heat map, the aggregation is on top, and report has the same numbers', async () => {
  const file = join(folder, 'service.nscope');
  const page = await open(await serve(file), { scheme: 'dark' });
  await picture(page, 'whole');
  // Where it blocked, as the page itself found out.
  const stall = page.locator('[data-testid=stalls] .st', { hasText: 'aggregateMetrics' }).first();
  await stall.waitFor();
  await stall.click();
  await settled(page);
  const [from, to] = rangeOf(page);
  const thread = hashOf(page).get('threads');
  assert.ok(to - from > 0.5, `a stall of ${to - from} s`);
  await picture(page, 'stall');
  // The same, by hand in the heat map.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await settled(page);
  assert.equal(hashOf(page).get('sel'), null);
  await drag(page, from * 1e9, to * 1e9);
  const [dragFrom, dragTo] = rangeOf(page);
  assert.ok(Math.abs(dragFrom - from) < 0.021 && Math.abs(dragTo - to) < 0.041, `${dragFrom}-${dragTo} for ${from}-${to}`);
  await page.goto(page.url().replace(/#.*/, `#sel=${dragFrom}-${dragTo}&threads=${thread}&sort=total&group=function`));
  await page.reload();
  await page.locator('[data-testid=functions] .tr').first().waitFor();
  await settled(page);
  const shown = await rows(page);
  const byName = new Map(shown.map(([self, total, name]) => [name, { self, total }]));
  assert.ok(byName.get('aggregateMetrics').total > 60, JSON.stringify(shown.slice(0, 8)));

  const threads = await page.evaluate(() => document.title);
  assert.match(threads, /service\.nscope/);
  const tid = await stallThread(file, dragFrom, dragTo);
  const report = reported(file, '--from', `${dragFrom}s`, '--to', `${dragTo}s`, '--thread', String(tid), '--sort', 'total');
  for (const [self, total, name] of shown.slice(0, 12)) {
    const row = report.rows.find((r) => r.name === name || r.name.startsWith(`${name} `));
    assert.ok(row, name);
    assert.ok(Math.abs((row.total / report.total) * 100 - total) < 0.06, `${name}: ${row.total / report.total} and ${total} %`);
    assert.ok(Math.abs((row.self / report.total) * 100 - self) < 0.06, `${name}: ${row.self / report.total} and ${self} %`);
  }
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
