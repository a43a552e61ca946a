// How smooth a flame graph of 100,000 boxes is, while the pointer moves over it and while it is zoomed in and out.
//   node bench/page/frames.mjs [--nodescope PROGRAM] [--frames 200] [--picture FILE.png]
// A frame begins with what the user does and ends when the browser has drawn it; Chromium draws without a GPU here.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { idle, withPage, withServer } from './browser.mjs';

const { values: options } = parseArgs({
  options: {
    nodescope: { type: 'string', default: 'build/release/nodescope' },
    frames: { type: 'string', default: '200' },
    picture: { type: 'string' },
  },
});

// A tree of 25 rows, each with 4,000 boxes but for the outermost, which split 2, 20 and 200 times.
function foldedStacks() {
  const lines = [];
  for (let i = 0; i < 4000; i++) {
    const stack = [`main${i % 2}`, `serve${i % 20}`, `handle${i % 200}`];
    for (let depth = 3; depth < 28; depth++) stack.push(`step${depth}_${(i * 7919 + depth * 31) % 4001}`);
    lines.push(`node;${stack.join(';')} ${10 + (i % 7)}`);
  }
  return lines.join('\n');
}

const folder = mkdtempSync(join(tmpdir(), 'nodescope-bench-'));
const file = join(folder, 'wide.folded');
writeFileSync(file, foldedStacks());

async function measure(page, address) {
  await page.goto(address);
  const flame = page.getByTestId('flame');
  await flame.waitFor();
  await idle(page);
  console.log(`${await flame.getAttribute('data-boxes')} boxes`);
  if (options.picture) await page.screenshot({ path: options.picture });
  for (const what of ['hover', 'zoom']) {
    const times = await page.evaluate(async ([what, frames]) => {
      const canvas = document.querySelector('[data-testid=flame] canvas') ?? document.querySelector('[data-testid=flame]');
      const box = canvas.getBoundingClientRect();
      let seed = 1;
      const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
      const send = (type) => {
        const at = { clientX: box.left + box.width * (0.05 + 0.9 * random()), clientY: box.top + box.height * (0.1 + 0.85 * random()), bubbles: true };
        canvas.dispatchEvent(type.startsWith('pointer') ? new PointerEvent(type, at) : new MouseEvent(type, at));
      };
      const drawn = () => new Promise((done) => requestAnimationFrame((begin) => requestAnimationFrame((end) => done(end - begin))));
      const times = [];
      for (let i = 0; i < frames; i++) {
        if (what === 'hover') send('pointermove');
        else if (i % 2 === 0) send('click');
        else document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
        times.push(await drawn());
      }
      return times;
    }, [what, Number(options.frames)]);
    times.sort((a, b) => a - b);
    const part = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(0);
    console.log(`${what}: ${part(0.5)} ms (median), ${part(0.95)} ms (95 of 100), ${part(1)} ms (longest) of ${times.length} frames`);
  }
}

try {
  await withServer(options.nodescope, file, (address) => withPage({ width: 1920, height: 1080 }, (page) => measure(page, address)));
} finally {
  rmSync(folder, { recursive: true });
}
