'use strict';
const fs = require('fs');
const prettier = require('prettier');

const source = fs.readFileSync(require.resolve('webpack/lib/Compilation.js'), 'utf8');
(async () => { for (;;) await prettier.format(source, { parser: 'babel' }); })();
