import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

// The page is one file: script, style and engine are inside of it, and its policy names exactly these by their hashes, so that
// nothing that a recording holds can ever run.
const engine = process.env.ENGINE_WASM ?? '../build/dev/engine.wasm';
const outDir = process.env.OUT_DIR ?? 'dist';

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function policy(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashOf(script)} 'wasm-unsafe-eval'`,
    'worker-src blob:',
    `style-src ${hashOf(style)}`,
    'img-src data: blob:',
    "connect-src 'self' data:", // its own server; the decoder of zstd has its code in a data: address
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

function engineElement(): string {
  const bytes = gzipSync(readFileSync(engine), { level: 9 });
  return `<script type="application/wasm;base64" id="engine">${bytes.toString('base64')}</script>`;
}

function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    apply: 'build',
    generateBundle(_, bundle) {
      let script = '';
      let style = '';
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === 'chunk') script += part.code;
        else if (name.endsWith('.css')) style += String(part.source);
        else continue;
        delete bundle[name];
      }
      // A closing tag inside of a string would end the element.
      script = script.replaceAll('</script', '<\\/script').trim();
      style = style.trim();
      const page = bundle['page.html'];
      if (page?.type !== 'asset') throw new Error('page.html was not built');
      if (script.includes('<!--nodescope-data-->')) throw new Error('the mark for the data must not be in the script');
      page.source = String(page.source)
        .replace(/<script type="module"[^>]*><\/script>\s*/, '')
        .replace(/<link rel="stylesheet"[^>]*>\s*/, '')
        .replace(
          '<meta charset="utf-8">',
          () => `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">`,
        )
        .replace('</head>', () => `<style>${style}</style>\n</head>`)
        .replace('<!--nodescope-data-->', () => `${engineElement()}\n<!--nodescope-data-->`)
        .replace('</body>', () => `<script type="module">${script}</script>\n</body>`);
    },
  };
}

// While developing, the engine is served beside the sources.
function engineForDevelopment(): Plugin {
  return {
    name: 'engine',
    apply: 'serve',
    transformIndexHtml: (html) =>
      existsSync(engine) ? html.replace('<!--nodescope-data-->', () => `${engineElement()}\n<!--nodescope-data-->`) : html,
  };
}

export default defineConfig({
  base: './',
  plugins: [oneFile(), engineForDevelopment()],
  build: {
    outDir,
    emptyOutDir: false,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1 << 20,
    rollupOptions: { input: 'page.html' },
    reportCompressedSize: false,
  },
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  worker: { format: 'iife' },
  test: { include: ['tests/**/*.test.ts'] },
} as Parameters<typeof defineConfig>[0]);
