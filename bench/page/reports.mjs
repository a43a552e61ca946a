// How long reports (`nodescope view FILE -o report.html`) take to open from disk, and new ranges in them.
//   node bench/page/reports.mjs REPORT.html… [--runs 3] [--seconds 2]
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { median, showHeatMap, timesOfRanges, withPage } from './browser.mjs';

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string', default: '3' }, seconds: { type: 'string', default: '2' } },
});

console.log(`medians of ${options.runs} runs, ms\n| report | MB | first heat map | range of ${options.seconds} s |\n|---|---|---|---|`);
for (const file of files) {
  const [heat, ranges] = [[], []];
  for (let run = 0; run < Number(options.runs); run++) {
    await withPage({ width: 1440, height: 900 }, async (page) => {
      const begin = performance.now();
      await showHeatMap(page, `file://${resolve(file)}`);
      heat.push(performance.now() - begin);
      ranges.push(...(await timesOfRanges(page, Number(options.seconds))));
    });
  }
  console.log(`| ${basename(file)} | ${(statSync(file).size / 1e6).toFixed(1)} | ${median(heat).toFixed(0)} | ${median(ranges).toFixed(0)} |`);
}
