// What the benchmarks of the page share: a browser, and how long the page takes in it.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const { chromium } = createRequire(new URL('../../tests/browser/', import.meta.url))('playwright-core');

// Runs `work` with a page of a Chromium without a GPU.
export async function withPage(viewport, work) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ viewport });
    // A browser that has just begun is busy with itself.
    await page.waitForTimeout(1500);
    return await work(page);
  } finally {
    await browser.close();
  }
}

// Starts `nodescope view` and runs `work` with its address.
export async function withServer(nodescope, file, work) {
  const server = spawn(nodescope, ['view', '--no-open', file], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    return await work(await new Promise((found) => server.stdout.once('data', (data) => found(String(data).trim()))));
  } finally {
    server.kill('SIGINT');
  }
}

export const idle = (page) => page.waitForFunction(() => document.body.getAttribute('aria-busy') === 'false', null, { polling: 'raf', timeout: 600_000 });

// Goes to the address and waits until the first heat map is drawn.
export async function showHeatMap(page, address) {
  await page.goto(address, { waitUntil: 'commit' });
  await page.locator('[data-testid=heat][data-counted]:not([data-counted=""])').waitFor({ timeout: 600_000 });
}

// Milliseconds of five new ranges of `seconds` in the middle: inside of the page, from the change of the selection until all is painted.
export async function timesOfRanges(page, seconds) {
  await idle(page);
  const data = await page.getByTestId('heat').evaluate((heat) => ({ ...heat.dataset }));
  const from = Math.floor((Number(data.columns) * Number(data.columnNs)) / 2e9);
  const times = [];
  for (let i = 0; i < 5; i++) {
    times.push(await page.evaluate(async (hash) => {
      const begin = performance.now();
      location.hash = hash;
      await new Promise((done) => addEventListener('hashchange', done, { once: true }));
      do await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      while (document.body.getAttribute('aria-busy') !== 'false');
      return performance.now() - begin;
    }, `sel=${from + i / 10}-${from + seconds + i / 10}`));
  }
  return times;
}

export const median = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];
