// How long the page's engine takes for a recording: node bench/page/engine.mjs engine.wasm FILE…
// Times are of one thread, as in the page's worker; memory is what WebAssembly has taken at the end.
import fs from "node:fs";
import { performance } from "node:perf_hooks";
import { Engine } from "../../tests/wasm/engine.mjs";

const [wasm, ...files] = process.argv.slice(2);
for (const file of files) {
  const engine = await Engine.load(wasm);
  const bytes = fs.readFileSync(file);
  const timed = (name, work) => {
    const begin = performance.now(), cpu = process.cpuUsage();
    const reply = work();
    const { user, system } = process.cpuUsage(cpu);
    if (reply.error) throw new Error(`${name}: ${reply.error}`);
    console.log(`  ${name.padEnd(44)} ${(performance.now() - begin).toFixed(0).padStart(6)} ms ${((user + system) / 1e3).toFixed(0).padStart(6)} ms CPU`);
    return reply;
  };
  console.log(`${file}: ${(bytes.length / 1e6).toFixed(1)} MB`);
  const opened = timed("open", () => engine.open(bytes, file));
  const about = engine.ask("view=about");
  const duration = about.duration_ns, middle = Math.floor(duration / 2);
  const column = duration > 3600e9 ? 60e9 : 1e9;
  const main = about.threads.findIndex(thread => thread.samples > 0);

  timed("first heat map", () => engine.ask({ view: "heat", column_ns: column }));
  timed("the same again", () => engine.ask({ view: "heat", column_ns: column }));
  timed("heat map of a search", () => engine.ask({ view: "heat", column_ns: column, search: "1234" }));
  timed("lanes", () => engine.ask({ view: "lanes" }));
  for (const from of [middle, middle + 7e9, middle + 14e9]) timed("flame graph of 2 s", () => engine.ask({ view: "flame", from, to: from + 2e9 }));
  timed("its table", () => engine.ask({ view: "table", from: middle, to: middle + 2e9 }));
  timed("flame graph of a tenth", () => engine.ask({ view: "flame", from: middle, to: middle + duration / 10 }));
  timed("flame graph of everything", () => engine.ask({ view: "flame" }));
  timed("table of everything", () => engine.ask({ view: "table" }));
  timed("causes of everything", () => engine.ask({ view: "causes" }));
  timed("flame graph of one thread", () => engine.ask({ view: "flame", threads: main }));
  timed("flame graph by thread", () => engine.ask({ view: "flame", roots: "thread" }));
  timed("comparison of two tenths", () => engine.ask({ view: "flame", from: 0, to: duration / 10, "base.from": middle, "base.to": middle + duration / 10 }));
  timed("search in everything", () => engine.ask({ view: "flame", search: "1234" }));
  timed("stalls", () => engine.ask({ view: "stalls" }));
  console.log(`  ${opened.samples.toLocaleString("en")} samples, memory ${(engine.exports.memory.buffer.byteLength / 1e6).toFixed(0)} MB`);
}
