// What the tests of the page share: a browser, a recording of the sample service, servers, and ways to use the page.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const program = process.env.NODESCOPE;
const screenshots = process.env.SCREENSHOTS; // a folder: keep pictures for a look
export const root = fileURLToPath(new URL('../..', import.meta.url));
export const folder = mkdtempSync(join(tmpdir(), 'nodescope-page-'));
const servers = [];
let browser;
chmodSync(folder, 0o755); // a server that root starts reads sources as nobody

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
});

// What of the sample service's aggregations, which take 1.5 s, was told as one stall, the longest first.
export function longStalls() {
  const { stalls } = JSON.parse(execFileSync(program, ['report', service(), '--stalls', '--json'], { encoding: 'utf8' }));
  return stalls.filter(({ name, from_ns, to_ns }) => name.startsWith('aggregateMetrics') && to_ns - from_ns > 1.3e9);
}

// The sample service, for all tests of a file.  On a machine that has no CPU for it, its stalls come in pieces.
export function recordService() {
  before(() => {
    for (let attempts = 0; attempts < 6; attempts++) {
      execFileSync(program, ['demo', '--seconds', '10', '--no-open', '--name', 'service'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
      if (longStalls().some(({ to_ns }) => to_ns < 7.5e9)) return;
    }
    throw new Error('the sample service had no CPU for its stalls');
  });
}

after(async () => {
  await browser?.close();
  for (const server of servers) server.kill('SIGINT');
  rmSync(folder, { recursive: true, maxRetries: 20, retryDelay: 200 });
});

// Starts `nodescope view` and gives its address.
export function serve(...files) {
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
export async function open(address, options) {
  const page = await openAt(address, options);
  await page.locator('[data-testid=functions] .tr').first().waitFor({ timeout: 60_000 });
  await settled(page);
  return page;
}

export async function openAt(address, { hash = '', scheme = 'light', offline = false, viewport = { width: 1440, height: 900 } } = {}) {
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

export async function picture(page, name) {
  if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

// Waits until the engine has nothing to do any more and all of it is painted.
export async function settled(page) {
  await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    for (let quiet = 0; quiet < 4;) {
      await frame();
      quiet = document.body.getAttribute('aria-busy') === 'false' ? quiet + 1 : 0;
    }
  });
}

export async function drag(page, fromNs, toNs, modifiers = []) {
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

export const hashOf = async (page) => new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
export const rangeOf = async (page) => (await hashOf(page)).get('sel').split('-').map(Number);

// The rows of the list in sight: [self %, total %, name].
export const rows = (page) => page.locator('[data-testid=functions] .tr').evaluateAll((list) => list.map((row) => [
  parseFloat(row.querySelector('.self em').textContent.replace('<', '')), parseFloat(row.querySelectorAll('.v')[1].textContent.replace('<', '')),
  row.querySelector('.nm').textContent]));

export const reported = (file, ...args) => JSON.parse(execFileSync(program, ['report', file, '--json', '--top', '0', ...args], { encoding: 'utf8', maxBuffer: 1 << 28 }));

export const golden = (file) => join(root, 'tests/golden', file);

export const service = () => join(folder, 'service.nscope');
