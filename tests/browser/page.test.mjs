// The page in real Chromium, on recordings of real programs.
//   node --test page.test.mjs     with NODESCOPE=path of the program, SCREENSHOTS=a folder for pictures
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { drag, folder, golden, hashOf, longStalls, open, picture, program, rangeOf, recordService, reported, rows, serve, service, settled } from './page_support.mjs';

recordService();

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

test('a profile of one sample is not called one without times, and causes are those of report', async () => {
  const root = { id: 1, callFrame: { functionName: '(root)', scriptId: '0', url: '' }, children: [2] };
  const f = { id: 2, callFrame: { functionName: 'f', scriptId: '1', url: 'file:///a.js', lineNumber: 0, columnNumber: 0 } };
  const file = join(folder, 'one.cpuprofile');
  writeFileSync(file, JSON.stringify({ nodes: [root, f], startTime: 1000, endTime: 2000, samples: [2], timeDeltas: [0] }));
  const one = await open(await serve(file));
  assert.doesNotMatch(await one.getByTestId('selection').textContent(), /times/);
  await one.context().close();
  const page = await open(await serve(service()));
  const shown = (await page.getByTestId('causes').textContent()).match(/[A-Z]\w+ *[<\d.]+ %/g).map((text) => text.toLowerCase().replace(/ +/g, ' '));
  const printed = execFileSync(program, ['report', service()]).toString().split('\n').find((line) => line.startsWith('by cause: '));
  // Halves of a digit are rounded up here and to the even digit there.
  const shares = (list) => Object.fromEntries(list.map((text) => [text.split(' ')[0], parseFloat(text.split(' ')[1].replace('<', ''))]));
  const [here, there] = [shares(shown), shares(printed.replace('by cause: ', '').split(', '))];
  assert.deepEqual(Object.keys(here).sort(), Object.keys(there).sort());
  for (const cause of Object.keys(here)) assert.ok(Math.abs(here[cause] - there[cause]) < 0.11, `${cause}: ${here[cause]} and ${there[cause]}`);
  await page.context().close();
});

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
  const report = reported(service(), '--from', `${begin}s`, '--until', `${end}s`);
  for (let i = 0; i < 10; i++) assert.ok(Math.abs(shown[i][0] - (report.rows[i].self / report.total) * 100) < 0.06, `${shown[i]} and ${report.rows[i].name}`);

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
  const largest = diff.functions; // in the list's order: what got slower first
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
  const report = reported(service(), '--from', '3s', '--until', '5s');
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

// The colour of the middle of the heat map's cell at a time.
const cellColour = (page, ns) => page.getByTestId('heat').evaluate((canvas, time) => {
  const [columnNs, rows, columns, rowHeight, first] = ['columnNs', 'rows', 'columns', 'rowHeight', 'fromNs'].map((key) => Number(canvas.dataset[key]));
  const column = Math.floor((time - first) / columnNs);
  const row = Math.floor(((time - first) % columnNs) / (columnNs / rows));
  const width = canvas.clientWidth - 152 - 16;
  const ratio = canvas.width / canvas.clientWidth;
  return [...canvas.getContext('2d').getImageData((152 + (column + 0.5) * (width / columns)) * ratio, (2 + (row + 0.5) * rowHeight) * ratio, 1, 1).data];
}, ns);

test('the heat map: cells of several lengths, by cause, lit by a search, zoomed', async () => {
  const page = await open(await serve(service()));
  const heat = page.getByTestId('heat');
  const counted = () => heat.getAttribute('data-counted').then(Number);
  const all = await counted();
  assert.equal(all, JSON.parse(execFileSync(program, ['info', '--json', service()], { encoding: 'utf8' })).samples.shown);
  for (const [ms, rowsOfColumn] of [[10, 100], [100, 10], [20, 50]]) {
    await page.getByLabel('Height of a row in time').selectOption(String(ms));
    await settled(page);
    assert.equal(Number(await heat.getAttribute('data-rows')), rowsOfColumn);
    assert.equal(await counted(), all);
  }
  const pixels = () => heat.evaluate((canvas) => canvas.toDataURL());
  const bySamples = await pixels();
  await page.keyboard.press('c');
  await settled(page);
  assert.notEqual(await pixels(), bySamples);
  await page.keyboard.press('c');

  // Where the search is found the cell is blue; before the stall it is faint.
  const [stall] = longStalls();
  await page.goto(page.url().replace(/#.*/, '#q=aggregateMetrics'));
  await settled(page);
  const found = [];
  for (let ns = stall.from_ns + 1e8; ns < stall.to_ns - 1e8; ns += 2e7) found.push(await cellColour(page, ns));
  assert.ok(found.filter(([r, , b]) => b > r + 60).length > found.length / 3, JSON.stringify(found));
  const [r, , b] = await cellColour(page, stall.from_ns - 3e8);
  assert.ok(b <= r + 10, `${r} ${b}`);

  // Zoomed in around the pointer, and out again.
  const box = await heat.boundingBox();
  await page.mouse.move(box.x + 152 + (box.width - 168) * 0.5, box.y + 50);
  await page.mouse.wheel(0, -400);
  await settled(page);
  assert.ok(Number(await heat.getAttribute('data-columns')) < 10);
  assert.ok((await hashOf(page)).get('window'));
  await page.getByRole('button', { name: /^Show all/ }).click();
  await settled(page);
  assert.equal((await hashOf(page)).get('window'), null);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('the flame chart is in the order of time', async () => {
  // a for 100 ms, b for 200 ms, a again for 300 ms.
  const node = (id, functionName, children) => ({ id, callFrame: { functionName, scriptId: '1', url: 'file:///x.js', lineNumber: id, columnNumber: 0 }, children });
  const samples = [...Array(100).fill(2), ...Array(200).fill(3), ...Array(300).fill(2)];
  const file = join(folder, 'order.cpuprofile');
  writeFileSync(file, JSON.stringify({ nodes: [node(1, '(root)', [2, 3]), node(2, 'a'), node(3, 'b')], startTime: 0, endTime: 600_000, samples, timeDeltas: samples.map(() => 1000) }));
  const page = await open(await serve(file));
  const boxes = () => page.getByTestId('flame').getAttribute('data-boxes').then(Number);
  const merged = await boxes();
  await page.keyboard.press('2');
  await settled(page);
  assert.equal(await boxes(), merged + 1);
  await page.getByTestId('flame').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown'); // the longest below (root)
  const spoken = async () => (await page.locator('.spoken[role=status]').textContent()).split(' ')[0];
  const order = [await spoken()];
  for (let i = 0; i < 2; i++) {
    await page.keyboard.press('ArrowLeft');
    order.unshift(await spoken());
  }
  assert.deepEqual(order, ['a', 'b', 'a']);
  await picture(page, 'chart');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('options of the flame graph, the menu of a box, sorting: each changes what is shown, and is in the address', async () => {
  const page = await open(await serve(service()));
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  // All boxes, and those in sight.
  const shown = async () => createHash('sha1').update(await page.getByTestId('flame').evaluate((canvas) => canvas.dataset.boxes + canvas.toDataURL())).digest('hex');
  await page.getByRole('button', { name: 'Options', exact: true }).click();
  const changed = async (what, change) => {
    const before = await shown();
    await change();
    await settled(page);
    assert.notEqual(await shown(), before, what);
  };
  for (const [words, key] of [['Root on top', 'icicle'], ['Reversed', 'reversed'], ['Fold event loop', 'fold'], ['Split by thread', 'byThread'], ['Split by tier', 'tiers'], ['Collapse recursion', 'recursion']]) {
    const option = page.locator('.popover label', { hasText: words }).locator('input');
    await changed(words, () => option.click());
    assert.notEqual((await hashOf(page)).get(key), null, key);
    await changed(words, () => option.click());
    assert.equal((await hashOf(page)).get(key), null, key);
  }
  for (const palette of ['package', 'name', 'kind']) await changed(palette, () => page.locator('.popover select').selectOption(palette));
  await page.locator('.popover').getByRole('button', { name: 'Close' }).click();

  await page.getByTestId('flame').focus();
  const spoken = () => page.locator('.spoken[role=status]').textContent();
  for (let i = 0; i < 20 && !(await spoken()).startsWith('handleRequest '); i++) await page.keyboard.press('ArrowDown');
  const choose = async (words) => {
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: words }).click();
    await settled(page);
  };
  await choose('Copy the stack');
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /handleRequest/);
  await choose('Focus: only stacks with it');
  assert.match((await hashOf(page)).get('focus'), /handleRequest/);
  const named = async () => (await rows(page)).map(([, , name]) => name);
  await page.locator('.th button', { hasText: 'Total' }).click();
  await settled(page);
  const totals = (await rows(page)).map(([, total]) => total);
  assert.deepEqual(totals, [...totals].sort((a, b) => b - a));
  assert.ok((await named()).includes('handleRequest'));
  assert.equal(totals[0], 100);
  await page.locator('.th button', { hasText: 'Total' }).click();
  await settled(page);
  const smallest = (await rows(page)).map(([, total]) => total);
  assert.deepEqual(smallest, [...smallest].sort((a, b) => a - b));
  assert.ok(smallest[0] < totals[0]);
  assert.equal((await hashOf(page)).get('sortReversed'), '1');
  await page.locator('.th button', { hasText: 'Name' }).click();
  await settled(page);
  assert.equal(await page.locator('.th button', { hasText: 'Name' }).getAttribute('aria-sort'), 'ascending');
  await page.locator('.crumbs .chip').first().click();
  await settled(page);
  await page.getByTestId('flame').focus();
  for (let i = 0; i < 20 && !(await spoken()).startsWith('handleRequest '); i++) await page.keyboard.press('ArrowDown');
  await choose('Hide stacks with it');
  assert.match((await hashOf(page)).get('hide'), /handleRequest/);
  assert.equal((await named()).includes('handleRequest'), false);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('About has the numbers of info', async () => {
  const info = JSON.parse(execFileSync(program, ['info', '--json', service()], { encoding: 'utf8' }));
  const page = await open(await serve(service()));
  await page.keyboard.press('a');
  const facts = await page.locator('.facts tr').evaluateAll((list) => Object.fromEntries(list.map((row) => [...row.children].map((cell) => cell.textContent))));
  assert.equal(facts['Samples taken'].replaceAll(',', ''), String(info.samples.taken));
  assert.equal(facts.node, info.facts.node);
  assert.equal(facts.Rate, info.facts.rate);
  assert.match(facts['… lost before they could be written'].replaceAll(',', ''), new RegExp(`^${info.samples.lost} `));
  assert.match(facts.command, /^node .*service\.js$/);
  assert.equal(facts['Processes and threads'], `3 and ${info.threads.length}`);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
