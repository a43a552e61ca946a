// The source view, with recordings of programs that were compiled or not.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folder, open, picture, program, root, serve, settled } from './page_support.mjs';

test('the source has samples by line, through source maps too', async () => {
  // A compiled file with its map: line 2 of the original is hot.
  const app = join(folder, 'app');
  mkdirSync(app);
  const original = 'export function work(n: number): number {\n  let x = 0; for (let i = 0; i < n; i++) x = (x * 31 + i) | 0;\n  return x;\n}\n';
  const compiled = 'function work(n) {\n    let x = 0;\n    for (let i = 0; i < n; i++)\n        x = (x * 31 + i) | 0;\n    return x;\n}\n'
    + 'while (process.cpuUsage().user < 3e6) work(1e6);\n//# sourceMappingURL=work.js.map\n';
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
    + 'while (process.cpuUsage().user < 2e6) loop(1e6);\n');
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

// A project as `tsc` compiles it by default: the maps name the originals and do not have their texts.
function compiledProject(name, ...options) {
  const project = join(folder, name);
  mkdirSync(join(project, 'src'), { recursive: true });
  writeFileSync(join(project, 'src/main.ts'), 'import { churn } from "./churn.js";\n\ndeclare const process: { cpuUsage(): { user: number } };\nwhile (process.cpuUsage().user < 15e5) churn(1e6);\n');
  writeFileSync(join(project, 'src/churn.ts'), [
    'interface Step { readonly factor: number }', '', '// This comment and the interface are not in what is run.', 'export function churn(n: number): number {',
    '  const step: Step = { factor: 31 };', '  let x = 0;', '  for (let i = 0; i < n; i++) x = (x * step.factor + i) | 0;', '  return x;', '}', ''].join('\n'));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  execFileSync(process.execPath, [join(root, 'ui/node_modules/typescript/bin/tsc'), '--rootDir', 'src', '--outDir', 'dist', '--target', 'es2022', '--module', 'es2022', '--moduleResolution', 'bundler',
    '--removeComments', ...options, 'src/main.ts'], { cwd: project });
  return project;
}

async function assertOriginalShown(page, project) {
  await page.locator('[data-testid=functions] .tr', { hasText: 'churn' }).first().click();
  await page.keyboard.press('4');
  await settled(page);
  const hot = page.locator('.source .ln', { hasText: 'x * step.factor' });
  await hot.waitFor();
  assert.equal(await hot.getAttribute('data-line'), '7');
  assert.ok(parseFloat(await hot.locator('.v').first().textContent()) > 40);
  assert.match(await page.locator('.source').textContent(), /interface Step/);
  assert.equal(await page.locator('.crumbs b').textContent(), join(project, 'src/churn.ts'));
}

test('originals of a source map without texts come from disk, and are kept in recordings and reports', async () => {
  for (const [name, ...options] of [['tsc', '--sourceMap'], ['tsc-root', '--sourceMap', '--sourceRoot', '../src'], ['tsc-inside', '--inlineSourceMap']]) {
    const project = compiledProject(name, ...options);
    const main = join(project, 'dist/main.js');
    const seen = join(folder, `${name}.nscope`);
    const kept = join(folder, `${name}-kept.nscope`);
    const record = (file, ...more) => execFileSync(program, ['record', ...more, '--no-open', '-o', file, '--', 'node', main], { stdio: ['ignore', 'ignore', 'pipe'] });
    record(seen);
    const report = join(folder, `${name}.html`);
    execFileSync(program, ['view', seen, '--sources', '-o', report]);
    if (name === 'tsc') record(kept, '--sources');
    else execFileSync(program, ['convert', seen, '--sources', '-o', kept]);
    const shown = async (address, options) => {
      const page = await open(address, { hash: '#filter=churn', ...options });
      await assertOriginalShown(page, project);
      await picture(page, `original-${name}`);
      assert.deepEqual(page.problems, []);
      await page.context().close();
    };
    await shown(await serve(seen));
    rmSync(project, { recursive: true });
    await shown(await serve(kept));
    await shown(`file://${report}`, { offline: true });
  }
});
