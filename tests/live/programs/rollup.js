'use strict';
const fs = require('fs');
const { dirname, join, resolve } = require('path');
const { rollup } = require('rollup');

// Sources in modules of ECMAScript: the package's own.
const entry = join(process.env.NODE_PATH, 'acorn', 'dist', 'acorn.mjs');
const onwarn = () => {};
const plugin = {
  name: 'text',
  resolveId: (id, from) => (from && id.startsWith('.') ? resolve(dirname(from), id) : null),
  load: (id) => fs.readFileSync(id, 'utf8'),
};
(async () => {
  for (;;) {
    const bundle = await rollup({ input: entry, onwarn, plugins: [plugin] });
    await bundle.generate({ format: 'es', sourcemap: true });
  }
})();
