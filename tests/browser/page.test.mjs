// The page in real Chromium, on recordings of real programs.
//   node --test page.test.mjs     with NODESCOPE=path of the program
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
chmodSync(folder, 0o755); // a server that root starts reads sources as nobody

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
  execFileSync(program, ['demo', '--seconds', '10', '--no-open', '--name', 'service'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
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
async function open(address, options) {
  const page = await openAt(address, options);
  await page.locator('[data-testid=functions] .tr').first().waitFor({ timeout: 60_000 });
  await settled(page);
  return page;
}

async function openAt(address, { hash = '', scheme = 'light', offline = false, viewport = { width: 1440, height: 900 } } = {}) {
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
  await page.locator('.grid').waitFor({ timeout: 60_000 });
  return page;
}

async function picture(page, name) {
  if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

// Waits until the engine has nothing to do any more and all of it is painted.
async function settled(page) {
  await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    for (let quiet = 0; quiet < 4;) {
      await frame();
      quiet = document.body.getAttribute('aria-busy') === 'false' ? quiet + 1 : 0;
    }
  });
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

const hashOf = async (page) => new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
const rangeOf = async (page) => (await hashOf(page)).get('sel').split('-').map(Number);

// The rows of the list in sight: [self %, total %, name].
const rows = (page) => page.locator('[data-testid=functions] .tr').evaluateAll((list) => list.map((row) => [
  parseFloat(row.querySelector('.self em').textContent.replace('<', '')), parseFloat(row.querySelectorAll('.v')[1].textContent.replace('<', '')),
  row.querySelector('.nm').textContent]));

const reported = (file, ...args) => JSON.parse(execFileSync(program, ['report', file, '--json', '--top', '0', ...args], { encoding: 'utf8', maxBuffer: 1 << 28 }));

const golden = (file) => join(root, 'tests/golden', file);

test('every kind of file opens', async () => {
  for (const file of ['perf-data/fp/input', 'perf-script/everything/input', 'cpuprofile/node20/input', 'recording/zstd/input', 'folded/recorded/input']) {
    const page = await open(await serve(golden(file)));
    await page.getByTestId('flame').waitFor();
    assert.ok(Number(await page.getByTestId('flame').getAttribute('data-boxes')) > 1, file);
    const shown = await rows(page);
    const report = reported(golden(file));
    assert.ok(Math.abs(shown[0][0] - (report.rows[0].self / report.total) * 100) < 0.06, `${file}: ${shown[0]} and ${report.rows[0].self / report.total}`);
    assert.deepEqual(page.problems, [], file);
    await page.context().close();
  }
});

const service = () => join(folder, 'service.nscope');

test('the stall of the sample service: selected in the heat map, the aggregation is on top, and report has the same numbers', async () => {
  const page = await open(await serve(service()), { scheme: 'dark' });
  await picture(page, 'whole');
  const stall = page.locator('[data-testid=stalls] .st', { hasText: 'aggregateMetrics' }).first();
  await stall.click();
  await settled(page);
  const [from, to] = (await rangeOf(page));
  const thread = (await hashOf(page)).get('threads');
  assert.ok(to - from > 0.5, `a stall of ${to - from} s`);
  await picture(page, 'stall');

  // The same by hand: everything again, then drag in the heat map, then the thread.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await settled(page);
  assert.equal((await hashOf(page)).get('sel'), null);
  assert.equal((await hashOf(page)).get('threads'), null);
  await drag(page, from * 1e9, to * 1e9);
  const [begin, end] = (await rangeOf(page));
  assert.ok(Math.abs(begin - from) <= 0.02 && Math.abs(end - to) <= 0.02, `${begin}-${end} for ${from}-${to}`);
  const shown = await rows(page);
  const report = reported(service(), '--from', `${begin}s`, '--to', `${end}s`);
  assert.deepEqual(shown.slice(0, 10).map(([self]) => self), report.rows.slice(0, 10).map((row) => Math.round((row.self / report.total) * 1000) / 10));

  // On top of the flame graph of that thread, told by walking it with the keyboard.
  await page.goto(page.url().replace(/#.*/, `#sel=${begin}-${end}&threads=${thread}`));
  await settled(page);
  await page.getByTestId('flame').focus();
  const path = [];
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press('ArrowDown');
    path.push(await page.locator('.spoken[role=status]').textContent());
  }
  assert.ok(path.some((words) => /^aggregateMetrics .*service\.js:\d+:\d+, total [6-9]\d|^aggregateMetrics .*total 100/.test(words)), path.join('\n'));
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('two clicks select a range, Escape takes it back, back and forward go through it', async () => {
  const page = await open(await serve(service()));
  const box = await page.getByTestId('heat').boundingBox();
  const plot = box.width - 168;
  await page.mouse.click(box.x + 152 + plot * 0.2, box.y + 30);
  const first = (await rangeOf(page));
  assert.ok(first[1] - first[0] < 0.0201);
  await page.mouse.click(box.x + 152 + plot * 0.5, box.y + 120);
  const both = (await rangeOf(page));
  assert.equal(both[0], first[0]);
  assert.ok(both[1] > first[1] + 1);
  await page.keyboard.press('Escape');
  assert.equal((await hashOf(page)).get('sel'), null);
  await page.goBack();
  await settled(page);
  assert.deepEqual((await rangeOf(page)), both);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('search, zoom, reverse, only my code, sandwich: all in the address, and a link shows the same', async () => {
  const address = await serve(service());
  const page = await open(address);
  const boxes = async () => Number(await page.getByTestId('flame').getAttribute('data-boxes'));
  const all = await boxes();
  await page.keyboard.press('/');
  await page.keyboard.type('handleRequest');
  await page.keyboard.press('Enter');
  await settled(page);
  const matched = parseFloat(await page.getByTestId('matched').textContent());
  const report = reported(service());
  const row = report.rows.find((r) => r.name.startsWith('handleRequest '));
  assert.ok(Math.abs(matched - (row.total / report.total) * 100) < 0.06, `${matched} and ${row.total / report.total}`);
  await picture(page, 'search');

  await page.keyboard.press('m');
  await settled(page);
  assert.ok((await boxes()) < all);
  await page.keyboard.press('m');
  await page.keyboard.press('r');
  await settled(page);
  assert.equal((await hashOf(page)).get('reversed'), '1');
  await page.keyboard.press('r');
  await settled(page);

  // A click zooms; the crumbs say where, and Escape zooms out.
  const flame = await page.getByTestId('flame').boundingBox();
  await page.mouse.click(flame.x + flame.width * 0.5, flame.y + 19 * 3.5);
  await settled(page);
  assert.ok(Number((await hashOf(page)).get('zoom')) > 0);
  const crumbs = await page.locator('.crumbs').textContent();
  await picture(page, 'zoom');
  const again = await open(page.url());
  await settled(again);
  assert.equal(await again.locator('.crumbs').textContent(), crumbs);
  assert.deepEqual(await rows(again), await rows(page));
  const pixels = (p) => p.getByTestId('flame').evaluate((canvas) => canvas.toDataURL());
  await page.mouse.move(5, 5);
  await settled(page);
  assert.equal(await pixels(again), await pixels(page));
  await page.keyboard.press('Escape');
  await settled(page);
  assert.equal((await hashOf(page)).get('zoom'), null);

  // Sandwich of a function: its total is that of the list.
  await page.locator('[data-testid=functions] .tr', { hasText: 'handleRequest' }).first().click();
  await page.getByTestId('sandwich').waitFor();
  await settled(page);
  assert.equal((await hashOf(page)).get('fn'), 'handleRequest');
  await picture(page, 'sandwich');
  for (const p of [page, again]) assert.deepEqual(p.problems, []);
  await page.context().close();
});

test('a second range is the baseline of a difference; two threads and two files too', async () => {
  const address = await serve(service(), golden('cpuprofile/node20/input'));
  const page = await open(address);
  const end = Number(await page.getByTestId('heat').getAttribute('data-columns'));
  await drag(page, 3e9, 5e9);
  await drag(page, 6e9, Math.min(8, end - 1) * 1e9, ['Control']);
  assert.match((await hashOf(page)).get('base'), /^6-/);
  assert.match(await page.locator('.foot').textContent(), /more than in the baseline/);
  assert.match(await page.getByTestId('selection').textContent(), /against 00:06\.00/);
  await picture(page, 'difference');
  const points = await page.locator('[data-testid=functions] .tr .self em').allTextContents();
  assert.ok(points.every((text) => /^[+−±]\d+\.\d$/.test(text)), points.join(' '));
  // Numbers of the program's own comparison.
  const before = join(folder, 'before.nscope');
  const after = join(folder, 'after.nscope');
  const [[b0, b1], [a0, a1]] = [(await hashOf(page)).get('base'), (await hashOf(page)).get('sel')].map((text) => text.split('-'));
  execFileSync(program, ['convert', service(), '--from', `${b0}s`, '--until', `${b1}s`, '-o', before]);
  execFileSync(program, ['convert', service(), '--from', `${a0}s`, '--until', `${a1}s`, '-o', after]);
  const diff = JSON.parse(execFileSync(program, ['diff', before, after, '--normalize', '--json'], { encoding: 'utf8', maxBuffer: 1 << 28 }));
  const pointsOf = (change) => Math.abs((change / diff.after) * 100).toFixed(1);
  const largest = [...diff.functions].sort((a, b) => Math.abs(b.after_self - b.before_self) - Math.abs(a.after_self - a.before_self));
  assert.deepEqual(points.slice(0, 8).map((text) => text.slice(1)), largest.slice(0, 8).map((f) => pointsOf(f.after_self - f.before_self)));

  // One worker against the other: both have lanes of their own.
  await page.goto(page.url().replace(/#.*/, '#'));
  await settled(page);
  const lanes = page.getByTestId('lanes');
  const words = await page.locator('ul.spoken button').allTextContents();
  const tops = [];
  words.reduce((y, text) => (tops.push(y), y + (/V8 helpers|libuv|other/.test(text) ? 15 : 28)), 0);
  const workers = words.map((text, i) => ({ text, y: tops[i] + 10 })).filter(({ text }) => /^node \d+/.test(text)).slice(1);
  assert.equal(workers.length, 2, words.join('|'));
  await lanes.click({ position: { x: 40, y: workers[0].y } });
  await lanes.click({ position: { x: 40, y: workers[1].y }, modifiers: ['Control'] });
  await settled(page);
  assert.notEqual((await hashOf(page)).get('baseThreads'), (await hashOf(page)).get('threads'));
  assert.match(await page.locator('.foot').textContent(), /more than in the baseline/);
  await picture(page, 'worker-against-worker');

  await page.getByLabel('Compare with').selectOption('1');
  await settled(page);
  assert.equal((await hashOf(page)).get('baseFile'), '1');
  assert.match(await page.locator('.foot').textContent(), /more than in the baseline/);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

async function saved(page, words) {
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: words }).click()]);
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  return path;
}

test('what is seen can be exported, and nodescope reads it again with the same numbers', async () => {
  const page = await open(await serve(service()), { hash: '#sel=3-5' });
  const report = reported(service(), '--from', '3s', '--to', '5s');
  for (const [words, within] of [['Folded', 1e-9], ['Chrome', 0.02], ['speedscope', 1e-6], ['pprof', 1e-6]]) {
    const path = await saved(page, words);
    const again = reported(path);
    assert.ok(Math.abs(again.total / report.total - 1) < within, `${words}: ${again.total} and ${report.total}`);
    assert.equal(again.rows.length > 10, true);
  }
  assert.match(readFileSync(await saved(page, 'drawing'), 'utf8'), /^<\?xml|^<svg/);
  const csv = readFileSync(await saved(page, 'Table'), 'utf8').split('\n');
  assert.ok(csv.length > 50, csv[0]);
  assert.equal(readFileSync(await saved(page, 'picture')).subarray(1, 4).toString(), 'PNG');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('one file from disk, with the network off', async () => {
  const report = join(folder, 'report.html');
  execFileSync(program, ['view', service(), '-o', report]);
  const page = await open(`file://${report}`, { offline: true });
  const served = await open(await serve(service()));
  assert.deepEqual(await rows(page), await rows(served));
  await page.keyboard.press('c');
  await settled(page);
  await picture(page, 'from-disk');
  // The page writes the same file by itself.
  const own = await saved(served, 'one HTML file');
  const third = await open(`file://${own}`, { offline: true });
  assert.deepEqual(await rows(third), await rows(page));
  for (const p of [page, served, third]) assert.deepEqual(p.problems, []);
});

test('hostile names are text everywhere', async () => {
  const names = ['<script>alert(1)</script>', '"></svg><img src=x onerror=alert(1)>', 'abc\u202egnp.exe', "');alert(1)//", 'x'.repeat(100_000)];
  const file = join(folder, '"><img src=x onerror=alert(1)>.folded');
  writeFileSync(file, names.map((name, i) => `main;${name} ${10 + i}`).join('\n'));
  const report = join(folder, 'hostile.html');
  execFileSync(program, ['view', file, '-o', report]);
  for (const address of [await serve(file), `file://${report}`]) {
    const page = await open(address);
    const shown = (await rows(page)).map(([, , name]) => name).join('\n');
    assert.match(shown, /<script>alert\(1\)<\/script>/);
    assert.match(shown, /\\u\{202e\}/);
    assert.equal(await page.locator('img, #app script').count(), 0);
    const flame = await page.getByTestId('flame').boundingBox();
    for (let i = 0; i < 5; i++) {
      await page.mouse.move(flame.x + 20 + (i + 0.5) * ((flame.width - 40) / 5), flame.y + 19 * 2.5);
      await settled(page);
    }
    await page.mouse.click(flame.x + flame.width / 2, flame.y + 19 * 2.5, { button: 'right' });
    await page.getByRole('menuitem', { name: 'Callers and callees' }).click();
    await settled(page);
    await page.keyboard.press('a');
    await page.getByRole('dialog').waitFor();
    assert.deepEqual(page.problems, []);
    await page.context().close();
  }
});

test('the source has samples by line, through source maps too', async () => {
  // A compiled file with its map: line 2 of the original is hot.
  const app = join(folder, 'app');
  mkdirSync(app);
  const original = 'export function work(n: number): number {\n  let x = 0; for (let i = 0; i < n; i++) x = (x * 31 + i) | 0;\n  return x;\n}\n';
  const compiled = 'function work(n) {\n    let x = 0;\n    for (let i = 0; i < n; i++)\n        x = (x * 31 + i) | 0;\n    return x;\n}\n'
    + 'const end = Date.now() + 3000;\nwhile (Date.now() < end) work(1e6);\n//# sourceMappingURL=work.js.map\n';
  writeFileSync(join(app, 'work.js'), compiled);
  // Line by line: 1 -> 1, 2 to 4 -> 2, 5 -> 3.
  const map = { version: 3, sources: ['work.ts'], sourcesContent: [original], names: [], mappings: 'AAAA;IACI;IAAA;QAAA;IACA;AACA' };
  writeFileSync(join(app, 'work.js.map'), JSON.stringify(map));
  const recording = join(folder, 'work.nscope');
  execFileSync(program, ['record', '--no-open', '-o', recording, '--', 'node', join(app, 'work.js')], { stdio: ['ignore', 'ignore', 'pipe'] });
  const page = await open(await serve(recording), { hash: '#filter=work' });
  await page.locator('[data-testid=functions] .tr', { hasText: 'work' }).first().click();
  await page.keyboard.press('4');
  await settled(page);
  const lines = page.locator('.source .ln');
  await lines.first().waitFor();
  const counted = await lines.evaluateAll((list) => list.map((line) => [line.querySelector('.v').textContent, line.querySelector('code').textContent]));
  await picture(page, 'source');
  assert.match(counted[0][1], /export function work\(n: number\)/);
  assert.ok(parseFloat(counted[1][0]) > 50, JSON.stringify(counted));
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a recording keeps its sources, and so does the report that is made of it', async () => {
  const app = join(folder, 'kept');
  mkdirSync(app);
  writeFileSync(join(app, 'loop.js'), 'function loop(n) {\n  let x = 0;\n  for (let i = 0; i < n; i++) x = (x * 31 + i) | 0;\n  return x;\n}\n'
    + 'const end = Date.now() + 2000;\nwhile (Date.now() < end) loop(1e6);\n');
  const recording = join(folder, 'kept.nscope');
  execFileSync(program, ['record', '--sources', '--no-open', '-o', recording, '--', 'node', join(app, 'loop.js')], { stdio: ['ignore', 'ignore', 'pipe'] });
  rmSync(app, { recursive: true });
  const report = join(folder, 'kept.html');
  execFileSync(program, ['view', recording, '-o', report]);
  for (const address of [await serve(recording), `file://${report}`]) {
    const page = await open(address, { hash: '#filter=loop' });
    await page.locator('[data-testid=functions] .tr', { hasText: 'loop' }).first().click();
    await page.keyboard.press('4');
    await settled(page);
    const hot = page.locator('.source .ln', { hasText: 'x * 31' });
    await hot.waitFor();
    assert.ok(parseFloat(await hot.locator('.v').first().textContent()) > 40);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  }
});

test('everything can be reached by keyboard, and help lists the keys', async () => {
  const page = await open(await serve(service()));
  await page.keyboard.press(']');
  await settled(page);
  const first = (await rangeOf(page));
  await page.keyboard.press('ArrowRight');
  assert.ok(Math.abs((await rangeOf(page))[0] - first[0] - 1) < 0.001);
  await page.keyboard.press('Shift+ArrowDown');
  assert.ok((await rangeOf(page))[1] - (await rangeOf(page))[0] > first[1] - first[0]);
  await page.keyboard.press('?');
  assert.match(await page.getByRole('dialog').textContent(), /Next stall/);
  await picture(page, 'help');
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.keyboard.press('t');
  const theme = await page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(theme, 'dark');
  // Tab goes through all controls, and each shows where it is.
  const seen = new Set();
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab');
    seen.add(await page.evaluate(() => document.activeElement?.dataset?.testid || document.activeElement?.className || document.activeElement?.tagName));
  }
  for (const part of ['heat', 'flame', 'tr', 'st', 'btn']) assert.ok([...seen].some((name) => String(name).includes(part)), `${part} in ${[...seen]}`);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a narrow window and a bad link still show something', async () => {
  const address = await serve(service());
  const page = await openAt(address, { hash: '#sel=900-901&zoom=99999&threads=777&file=12&view=nothing&base=5-1', viewport: { width: 700, height: 900 } });
  await settled(page);
  assert.match(await page.getByTestId('selection').textContent(), /· 0 s/);
  await picture(page, 'narrow');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
