'use strict';
const { join } = require('path');
const { ESLint } = require('eslint');

const eslint = new ESLint({
  useEslintrc: false, ignore: false, cwd: process.env.NODE_PATH,
  overrideConfig: { extends: 'eslint:recommended', env: { node: true, es2022: true }, parserOptions: { ecmaVersion: 2022 } },
});
(async () => { for (;;) await eslint.lintFiles([join('webpack', 'lib', '*.js')]); })();
