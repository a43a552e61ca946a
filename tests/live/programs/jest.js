'use strict';
// Tests in one process, which jest runs in contexts of their own.
const fs = require('fs');
const { join } = require('path');
const { runCLI } = require('jest');

const folder = process.env.SCRATCH;
fs.writeFileSync(join(folder, 'package.json'), '{"jest": {}}');
const parse = `const acorn = require(${JSON.stringify(require.resolve('acorn'))});
const text = require('fs').readFileSync(${JSON.stringify(require.resolve('acorn'))}, 'utf8');
test.each(Array.from({ length: 60 }, (_, i) => i))('parse %i', () => {
  expect(acorn.parse(text, { ecmaVersion: 2022 }).body).toEqual(expect.any(Array));
});`;
for (const name of ['a', 'b', 'c', 'd']) fs.writeFileSync(join(folder, `${name}.test.js`), parse);
const settings = { runInBand: true, silent: true, reporters: [], cache: false, watchman: false, testEnvironment: 'node', _: [], $0: '' };
(async () => { for (;;) await runCLI(settings, [folder]); })();
