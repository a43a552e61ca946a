// How the page can be used: by keyboard, without seeing colours well, on small screens, by newcomers.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folder, hashOf, longStalls, open, openAt, picture, rangeOf, recordService, rows, serve, service, settled } from './page_support.mjs';

recordService();

// Strengths of the colours of a canvas: how many pixels are clearly not grey.
const coloured = (page, id) => page.getByTestId(id).evaluate((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let strong = 0;
  for (let i = 0; i < data.length; i += 4) strong += data[i + 3] > 100 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 40;
  return strong;
});

const kKinds = /My JS|Node and library JS|V8 builtin|Native|Kernel|GC|Compile|RegExp|Unresolved/;

test('what colours say is told without them: by words, by patterns, and by pointing at the legend', async () => {
  for (const scheme of ['light', 'dark']) {
    const page = await open(await serve(service()), { hash: '#mode=cause', scheme });
    const session = await page.context().newCDPSession(page);
    for (const type of ['deuteranopia', 'protanopia', 'tritanopia', 'achromatopsia']) {
      await session.send('Emulation.setEmulatedVisionDeficiency', { type });
      await picture(page, `${type}-${scheme}`);
    }
    // Words of a box: its kind and its tier.
    await page.getByTestId('flame').focus();
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowDown');
    assert.match(await page.locator('.spoken[role=status]').textContent(), kKinds);
    const flame = await page.getByTestId('flame').boundingBox();
    await page.mouse.move(flame.x + flame.width * 0.5, flame.y + 19 * 4.5);
    assert.match(await page.locator('.tip .kind').textContent(), kKinds);
    assert.match(await page.locator('[data-testid=functions] .tr').first().getAttribute('title'), new RegExp(`\\n(${kKinds.source})[^\\n]*\\nself `));
    // Only one kind, only one cause: by the keyboard while the focus is there, by a click until the next.
    for (const [id, words] of [['flame', 'RegExp'], ['heat', 'Compile']]) {
      const entry = page.locator(id === 'flame' ? '.foot .key' : '.time .key', { hasText: words });
      const all = await coloured(page, id);
      await entry.focus();
      await settled(page);
      const lit = await coloured(page, id);
      assert.ok(lit < all / 2, `${id}: ${lit} of ${all}`);
      await entry.click();
      await page.mouse.move(5, 5);
      await page.getByTestId('flame').focus();
      await settled(page);
      assert.equal(await coloured(page, id), lit);
      await picture(page, `only-${words}-${scheme}`);
      await entry.click();
      await page.mouse.move(5, 5);
      await page.getByTestId('flame').focus();
      await settled(page);
      assert.ok(await coloured(page, id) > lit * 2);
    }
    assert.deepEqual(page.problems, []);
    await page.context().close();
  }
});

test('callers and callees can be walked by keyboard', async () => {
  const page = await open(await serve(service()), { hash: '#view=sandwich' });
  await page.locator('[data-testid=functions] .tr', { hasText: 'parseJson' }).or(page.locator('[data-testid=functions] .tr', { hasText: 'JsonParser' })).first().focus();
  await page.keyboard.press('Enter');
  await settled(page);
  await page.getByTestId('sandwich').focus();
  const spoken = () => page.locator('.spoken[role=status]').textContent();
  const before = (await hashOf(page)).get('fn');
  await page.keyboard.press('ArrowUp');
  const caller = await spoken();
  assert.match(caller, /, total /);
  await page.keyboard.press('ArrowDown');
  assert.notEqual(await spoken(), caller);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await settled(page);
  const after = (await hashOf(page)).get('fn');
  assert.notEqual(after, before);
  assert.ok(caller.startsWith(after.slice(0, 20)), `${after} and ${caller}`);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('everything can be reached by keyboard, and help lists the keys', async () => {
  const page = await open(await serve(service()));
  await page.locator('[data-testid=stalls] .st').first().waitFor();
  // A long one: a busy machine makes short ones, in which hardly anything ran.
  const long = longStalls()[0].from_ns / 1e9;
  for (let i = 0; i < 20 && !((await hashOf(page)).has('sel') && Math.abs((await rangeOf(page))[0] - long) < 0.2); i++) {
    await page.keyboard.press(']');
    await settled(page);
  }
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
  // A comparison of two ranges, and the menu of a box, without a mouse.
  await page.keyboard.press('b');
  await page.keyboard.press('ArrowRight');
  await settled(page);
  assert.notEqual((await hashOf(page)).get('base'), (await hashOf(page)).get('sel'));
  assert.match(await page.locator('.foot').textContent(), /more than in the baseline/);
  await page.keyboard.press('Escape');
  await page.getByTestId('flame').focus();
  const onFlame = () => page.evaluate(() => document.activeElement?.dataset.testid === 'flame');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menuitem', { name: 'Focus: only stacks with it' }).waitFor();
  assert.equal(await onFlame(), false);
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('menuitem').count(), 0);
  assert.equal(await onFlame(), true);
  await page.keyboard.press('a');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.closest('[role=dialog]') !== null), true);
  await page.keyboard.press('Escape');
  await settled(page);
  assert.equal(await onFlame(), true);
  await page.keyboard.press('t');
  const theme = await page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(theme, 'dark');
  // Tab goes through all controls, and each shows where it is.
  const seen = new Set();
  let stops = 0;
  for (; stops < 110 && !(seen.has('flame') && seen.has('heat') && await onFlame()); stops++) {
    await page.keyboard.press('Tab');
    seen.add(await page.evaluate(() => document.activeElement?.dataset?.testid || document.activeElement?.className || document.activeElement?.tagName));
  }
  // A list is one stop, however long; arrows go through it.
  assert.ok(stops < 70, `${stops} stops`);
  // All functions of the recording: those of one stall may be few.
  const whole = await open(await serve(service()));
  await settled(whole);
  await whole.locator('[data-testid=functions] .tr[tabindex="0"]').focus();
  // Forty repeats of a key before the list was drawn once, the way a key that is held down comes to a busy page.
  await whole.evaluate(() => {
    for (let i = 0; i < 40; i++) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
  });
  await whole.waitForFunction(() => document.activeElement?.dataset.row === '40');
  const [listBox, rowBox] = await Promise.all([whole.getByTestId('functions').boundingBox(), whole.locator('.tr:focus').boundingBox()]);
  assert.ok(rowBox.y >= listBox.y && rowBox.y + rowBox.height <= listBox.y + listBox.height + 1, 'the row is in sight');
  assert.deepEqual(whole.problems, []);
  await whole.context().close();
  for (const part of ['heat', 'flame', 'tr', 'st', 'btn']) assert.ok([...seen].some((name) => String(name).includes(part)), `${part} in ${[...seen]}`);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a small laptop shows everything at once, and nothing is cut off', async () => {
  const page = await open(await serve(service()), { viewport: { width: 1024, height: 700 } });
  assert.deepEqual(await page.evaluate(() => [document.documentElement.scrollHeight, document.documentElement.scrollWidth]), [700, 1024]);
  const lost = await page.locator('.sum .trust > div').last().boundingBox();
  assert.ok(lost.x + lost.width <= 1024, JSON.stringify(lost));
  assert.ok((await page.getByTestId('flame').boundingBox()).height > 100);
  await page.getByRole('button', { name: 'Options', exact: true }).click();
  const menu = await page.locator('.menu.popover').boundingBox();
  assert.ok(menu.y >= 0 && menu.y + menu.height <= 700 && menu.x + menu.width <= 1024, JSON.stringify(menu));
  const close = await page.locator('.menu.popover').getByRole('button', { name: 'Close' }).boundingBox();
  const onTop = await page.evaluate(([x, y]) => document.elementFromPoint(x, y)?.textContent, [close.x + 5, close.y + 5]);
  assert.equal(onTop.trim(), 'Close');
  await picture(page, 'small');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('views that need a function offer some, and files are told apart in the list', async () => {
  const page = await open(await serve(service()), { hash: '#view=source' });
  await page.locator('.suggestions button').first().click();
  await page.locator('.source code', { hasText: 'function ' }).first().waitFor();
  assert.match((await hashOf(page)).get('source'), /service\.js:\d+/);
  await page.goto(page.url().replace(/#.*/, '#view=sandwich'));
  await page.locator('.suggestions button').first().click();
  await page.getByTestId('sandwich').waitFor();
  await page.getByLabel('What to list').selectOption('file');
  await settled(page);
  const names = (await rows(page)).map(([, , name]) => name);
  assert.ok(names.includes('service.js'), names.join('|'));
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a search goes to where it is found, and back', async () => {
  const file = join(folder, 'deep.folded');
  const deep = Array.from({ length: 80 }, (_, i) => `f${i}`).join(';');
  writeFileSync(file, `${deep};needle;${deep} 10\n${deep};other 10\n`);
  const page = await open(await serve(file));
  const scrolled = () => page.locator('.flamewrap').evaluate((element) => element.scrollTop);
  assert.equal(await scrolled(), 0);
  await page.keyboard.press('/');
  await page.keyboard.type('needle');
  await page.keyboard.press('Enter');
  await settled(page);
  const top = await scrolled();
  assert.ok(top > 70 * 19 && top < 82 * 19, String(top));
  await page.locator('.field input').fill('');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.equal(await scrolled(), 0);
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
