// From a file of perf script text to what a person sees: nodescope view, FlameScope and speedscope, in turn on the same input.
//   node bench/page/compare.mjs FILE [--nodescope PROGRAM] [--flamescope FOLDER] [--speedscope FOLDER] [--runs 3]
// FOLDER of FlameScope: a clone whose Python (venv/bin/python, else python3) has what it needs.  FOLDER of speedscope: dist/release of
// its npm package.  FlameScope's times are those of its server alone, without drawing; the others are until it is drawn in Chromium.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { median, showHeatMap, timesOfRanges, withPage, withServer } from './browser.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nodescope: { type: 'string', default: 'build/release/nodescope' },
    flamescope: { type: 'string' },
    speedscope: { type: 'string' },
    runs: { type: 'string', default: '3' },
  },
});
const file = resolve(positionals[0]);
const folder = mkdtempSync(join(tmpdir(), 'nodescope-bench-'));

const kWindow = { width: 1440, height: 900 };

async function nodescope() {
  return withPage(kWindow, async (page) => {
    const begin = performance.now();
    return withServer(options.nodescope, file, async (address) => {
      const ready = performance.now();
      await showHeatMap(page, address);
      const heat = performance.now();
      return { 'server ready': ready - begin, 'heat map': heat - begin, 'range of 2 s': median(await timesOfRanges(page, 2)) };
    });
  });
}

function flamescope() {
  const examples = join(options.flamescope, 'examples', 'bench.script');
  mkdirSync(dirname(examples), { recursive: true });
  copyFileSync(file, examples);
  const local = resolve(options.flamescope, 'venv/bin/python');
  const script = `
import time
from app import APP
client = APP.test_client()
times = []
for path in ('/heatmap/?filename=bench.script&type=perf', '/flamegraph/?filename=bench.script&type=perf&start=%f&end=%f'):
    if '%f' in path:
        middle = len(client.get('/heatmap/?filename=bench.script&type=perf').json['columns']) // 2
        path = path % (middle, middle + 2)
    begin = time.monotonic()
    assert client.get(path).status_code == 200
    times.append(1000 * (time.monotonic() - begin))
print(*times)
`;
  const said = execFileSync(existsSync(local) ? local : 'python3', ['-c', script], { cwd: options.flamescope, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [heat, range] = said.trim().split(' ').slice(-2).map(Number);
  return { 'heat map': heat, 'range of 2 s': range };
}

// As its own command does: the profile as base64 in a script beside.
async function speedscope() {
  const script = join(folder, 'profile.js');
  const begin = performance.now();
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, "${readFileSync(file).toString('base64')}")`);
  const written = performance.now() - begin;
  return withPage(kWindow, async (page) => {
    const opened = performance.now();
    await page.goto(`file://${resolve(options.speedscope, 'index.html')}#localProfilePath=${script}`);
    await page.waitForFunction(() => document.querySelectorAll('canvas').length > 0 && document.title !== 'speedscope', null, { polling: 'raf', timeout: 600_000 });
    return { 'first drawing': written + performance.now() - opened };
  });
}

const tools = { nodescope, ...(options.flamescope && { flamescope }), ...(options.speedscope && { speedscope }) };
const results = {};
for (let run = 0; run < Number(options.runs); run++) {
  for (const [name, measure] of Object.entries(tools)) {
    try {
      for (const [what, ms] of Object.entries(await measure())) ((results[name] ??= {})[what] ??= []).push(ms);
    } catch (error) {
      console.error(`${name}: ${String(error).split('\n')[0]}`);
    }
  }
}
rmSync(folder, { recursive: true });
console.log(`${basename(file)}: ${(statSync(file).size / 1e6).toFixed(1)} MB; medians of ${options.runs} runs, ms`);
console.log('| tool | what | ms |\n|---|---|---|');
for (const [name, parts] of Object.entries(results)) {
  for (const [what, times] of Object.entries(parts)) console.log(`| ${name} | ${what} | ${median(times).toFixed(0)} |`);
}
