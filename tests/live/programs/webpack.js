'use strict';
const fs = require('fs');
const { join } = require('path');
const webpack = require('webpack');

const folder = process.env.SCRATCH;
fs.writeFileSync(join(folder, 'index.js'), ['eslint', 'prettier', 'acorn', 'fastify'].map((name) => `require('${name}');`).join('\n'));
const settings = {
  mode: 'development', target: 'node', devtool: 'source-map', cache: false, entry: join(folder, 'index.js'),
  resolve: { modules: [process.env.NODE_PATH] }, output: { path: join(folder, 'out') },
};
const build = () => webpack(settings).run(build);
build();
