'use strict';
// The compiler over the declarations of several packages.
const { join } = require('path');
const packages = process.env.NODE_PATH;
process.argv.push('--noEmit', '--strict', '--target', 'es2020', '--module', 'commonjs', '--typeRoots', join(packages, '@types'),
  ...['fastify/fastify.d.ts', 'webpack/types.d.ts', 'rollup/dist/rollup.d.ts', 'typescript/lib/typescript.d.ts']
    .map((file) => join(packages, file)));
require('typescript/lib/tsc.js');
