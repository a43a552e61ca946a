// The interactive SVG in real Chromium: zoom, search, reset, state in the address, hostile names.
//   node --test flame_svg.test.mjs     with NODESCOPE=path of the program
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const program = process.env.NODESCOPE;
const folder = mkdtempSync(join(tmpdir(), 'nodescope-browser-'));
let browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

// Draws `folded` and opens it from disk; any error or dialog on the page fails the test.
async function open(name, folded, args = [], hash = '') {
  const svg = join(folder, name + '.svg');
  writeFileSync(join(folder, name + '.folded'), folded);
  execFileSync(program, ['flame', join(folder, name + '.folded'), '-o', svg, ...args]);
  const page = await browser.newPage({ viewport: { width: 1300, height: 500 } });
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on('dialog', (dialog) => { page.problems.push('dialog'); dialog.dismiss(); });
  page.on('request', (request) => { if (!request.url().startsWith('file:')) page.problems.push(request.url()); });
  await page.goto('file://' + svg + hash);
  return page;
}

const FOLDED = 'node;main;parse;readFile 30\nnode;main;parse 20\nnode;main;Render 40\nnode;gc 10\n';
const shownNames = (page) => page.locator('#names text').allTextContents();
const box = (page, name) => page.locator('#frames rect', { has: page.locator('title', { hasText: name }) }).first();

test('shows every name and the details of what is under the mouse', async () => {
  const page = await open('plain', FOLDED);
  const names = await shownNames(page);
  for (const name of ['node', 'main', 'parse', 'readFile', 'Render', 'gc']) assert.ok(names.includes(name), name);
  await box(page, 'readFile').hover();
  assert.match(await page.locator('#details').textContent(), /readFile \(30 samples, 30(\.0+)?%\)/);
  assert.deepEqual(page.problems, []);
});

test('a click zooms, the address keeps it, Escape and reset undo it', async () => {
  const page = await open('zoom', FOLDED);
  await box(page, 'parse').click();
  assert.ok(!(await shownNames(page)).includes('gc'));
  const address = page.url();
  assert.match(address, /#.*x=/);
  const again = await browser.newPage();
  await again.goto(address);
  assert.deepEqual(await shownNames(again), await shownNames(page));
  await page.keyboard.press('Escape');
  assert.ok((await shownNames(page)).includes('gc'));
  await box(page, 'parse').click();
  await page.locator('#unzoom').click();
  assert.ok((await shownNames(page)).includes('gc'));
  assert.ok(!page.url().includes('x='));
});

test('search marks, counts, and matches case only when asked', async () => {
  const page = await open('search', FOLDED);
  await page.keyboard.press('Control+f');
  await page.keyboard.type('render');
  await page.locator('#matched', { hasText: 'Matched: 40' }).waitFor();
  assert.equal(await page.locator('#frames rect.hit').count(), 1);
  await page.keyboard.press('Control+i');
  await page.locator('#matched', { hasText: 'Matched: 0%' }).waitFor();
  await page.locator('#searchbox input').fill('^(parse|gc)$');
  await page.locator('#matched', { hasText: 'Matched: 60' }).waitFor();
  const again = await browser.newPage();
  await again.goto(page.url());
  assert.equal(await again.locator('#matched').textContent(), await page.locator('#matched').textContent());
});

test('hostile names are text', async () => {
  const long = 'x'.repeat(100_000);
  const hostile = [`<script>alert(1)</script>;"></svg><img src=x onerror=alert(2)> 50`, `\u202Eevil;]]>;--> 30`, `${long};a&b 20`];
  const page = await open('hostile', hostile.join('\n') + '\n', ['--title', '<b>"title"</b>', '--notes', '--><script>']);
  const names = (await shownNames(page)).join('\n');
  assert.ok(names.includes('<script>alert(1)</script>'));
  assert.ok(names.includes('a&b'));
  assert.equal(await page.locator('img').count(), 0);
  await page.keyboard.press('Control+f');
  await page.keyboard.type('<script>');
  await page.locator('#matched', { hasText: 'Matched: 50' }).waitFor();
  assert.deepEqual(page.problems, []);
});

test('a comparison tells both sides', async () => {
  writeFileSync(join(folder, 'a'), 'm;x 10\nm;y 10\n');
  writeFileSync(join(folder, 'b'), 'm;x 30\nm;z 10\n');
  const svg = join(folder, 'diff.svg');
  execFileSync(program, ['diff', join(folder, 'a'), join(folder, 'b'), '-o', svg]);
  const page = await browser.newPage();
  await page.goto('file://' + svg);
  await box(page, 'x').hover();
  assert.match(await page.locator('#details').textContent(), /\+/);
});
