// The page of heap snapshots in real Chromium, on a leak of a real program.
//   node --test heap.test.mjs     with NODESCOPE=path of the program, SCREENSHOTS=a folder for pictures
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { folder, hashOf, openAt, picture, program, root, serve, settled } from './page_support.mjs';

const shot = (number) => join(folder, `map-${number}.heapsnapshot`);
const asked = (...args) => JSON.parse(execFileSync(program, ['heap', ...args, '--json'], { encoding: 'utf8', maxBuffer: 1 << 28 }));

before(() => {
  execFileSync(process.execPath, [join(root, 'tests/heap/leaks.cjs'), 'map', folder]);
});

async function openHeap(address, options) {
  const page = await openAt(address, options);
  await page.locator('[data-testid=classes] .tr').first().waitFor();
  await settled(page);
  return page;
}

const names = (page) => page.locator('[data-testid=classes] .tr .nm').allTextContents();
const text = (page, id) => page.getByTestId(id).textContent();

test('the answer is on top, classes are those of the summary, and one click leads to who holds them', async () => {
  const page = await openHeap(await serve(shot(1), shot(2), shot(3)));
  const { leak, groups } = asked('diff', shot(1), shot(2), shot(3));
  assert.match(await text(page, 'answer'), new RegExp(`^${leak.name} \\+3,000 .*held by Ledger\\.entries \\(Map\\)`));
  const voucher = page.locator('[data-testid=classes] .tr', { hasText: /^Voucher/ });
  const cells = await voucher.locator('.num').allTextContents();
  const row = groups.find(({ name }) => name === 'Voucher');
  assert.equal(cells[2], row.new.toLocaleString('en-US'));
  assert.equal(await voucher.getAttribute('aria-current'), 'true');
  assert.match(await text(page, 'holder-place'), /^Ledger\.entries \(Map\)/);
  const steps = await page.locator('.chain .box .nm').allTextContents();
  assert.match(steps.at(-1), /^Voucher @/);
  assert.ok(steps.some((step) => step.startsWith('Ledger @')), steps.join(', '));
  assert.match((await page.locator('.chain .hot .nm').allTextContents())[0], /^Map @/);
  await picture(page, 'heap-compared');

  await page.locator('.chain .box').last().click();
  await settled(page);
  const id = (await hashOf(page)).get('object');
  assert.equal(await page.getByTestId('object').getAttribute('data-id'), id);
  const { node, retainers } = asked('retainers', id, shot(3));
  assert.equal(node.class, 'Voucher');
  const shown = await page.locator('section[aria-label=Retainers] .edge').count();
  assert.equal(shown, retainers.length);
  assert.deepEqual(await page.locator('section[aria-label="Refers to"] .edge:not(.v8) .dim').allTextContents(), ['id', 'lines', '__proto__']);
  assert.notEqual(await page.getByTestId('dominators').getAttribute('data-chosen'), '');
  await picture(page, 'heap-object');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('the state is in the address: filter, order, zoom; Escape and back go through it', async () => {
  const page = await openHeap(await serve(shot(3)), { scheme: 'dark' });
  assert.match(await text(page, 'answer'), /keeps .* alive|No single object/);
  const { groups } = asked('summary', shot(3));
  assert.equal((await names(page))[0], groups[0].name);
  await page.keyboard.press('/');
  await page.keyboard.type('vouch');
  await page.keyboard.press('Enter');
  assert.deepEqual(await names(page), ['Voucher', '{sku}']); // the second by its holder
  await page.locator('[data-testid=classes] .tr', { hasText: /^Voucher/ }).click();
  await page.keyboard.press('2');
  await settled(page);
  const voucher = groups.find(({ name }) => name === 'Voucher');
  assert.match(await text(page, 'objects'), new RegExp(`^Voucher: ${voucher.count.toLocaleString('en-US')} objects, the 200 largest`));
  const state = await hashOf(page);
  assert.equal(state.get('q'), 'vouch');
  assert.equal(state.get('panel'), 'objects');
  const link = page.url();
  await page.locator('[data-testid=objects] .obj').first().click();
  await settled(page);
  await page.getByRole('button', { name: 'Show in the dominators' }).click();
  await settled(page);
  assert.equal((await hashOf(page)).get('zoom'), (await hashOf(page)).get('object'));
  await picture(page, 'heap-dark');
  await page.goBack();
  await page.goBack();
  await settled(page);
  assert.equal(page.url(), link);
  for (let i = 0; i < 4; i++) await page.keyboard.press('Escape');
  await settled(page);
  assert.equal((await hashOf(page)).get('q'), null);
  assert.deepEqual(page.problems, []);
  const again = await openHeap(link.replace(/#.*/, ''), { hash: link.replace(/^[^#]*/, '') });
  assert.match(await text(again, 'objects'), /^Voucher: /);
  await page.context().close();
  await again.context().close();
});

test('dominators are walked with the keyboard, and a small window still shows everything', async () => {
  const page = await openHeap(await serve(shot(1), shot(3)), { viewport: { width: 800, height: 900 } });
  const boxes = page.getByTestId('dominators');
  assert.ok(Number(await boxes.getAttribute('data-boxes')) > 10);
  await boxes.focus();
  await page.keyboard.press('ArrowDown');
  assert.match(await page.locator('.spoken[role=status]').textContent(), /keeps .* alive, [\d.]+ %, [<\d.]+ % of it new/);
  await page.keyboard.press('Enter');
  await settled(page);
  assert.notEqual((await hashOf(page)).get('zoom'), null);
  await page.getByRole('button', { name: 'Whole heap' }).click();
  assert.equal((await hashOf(page)).get('zoom'), null);
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await picture(page, 'heap-small');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a report is one file that says the same without a server', async () => {
  const file = join(folder, 'heap.html');
  execFileSync(program, ['view', shot(1), shot(3), '-o', file]);
  const page = await openHeap(`file://${file}`, { offline: true });
  assert.match(await text(page, 'answer'), /^Voucher \+3,000 .*held by Ledger\.entries \(Map\)/);
  assert.match(await text(page, 'holder-place'), /^Ledger\.entries \(Map\)/);
  await page.locator('.chain .box').last().click();
  await settled(page);
  assert.match(await text(page, 'object'), /^Voucher @/);
  await picture(page, 'heap-report');
  // What is not in the file says so.
  await page.locator('[data-testid=classes]').evaluate((list) => (list.scrollTop = 1e6));
  await settled(page);
  await page.locator('[data-testid=classes] .tr:not([aria-disabled=true])').last().click();
  await settled(page);
  assert.match(await page.locator('.holders .problem').textContent(), /largest objects only/);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
