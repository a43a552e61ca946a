// The page's engine gives the numbers that the program prints.  ENGINE_WASM and NODESCOPE name what is compared.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { Engine, canDecompress } from "./engine.mjs";

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "../..");
const nodescope = process.env.NODESCOPE;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "nodescope-engine-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));

const run = (...args) => execFileSync(nodescope, args, { encoding: "utf8", maxBuffer: 1 << 28 });
const report = (...args) => JSON.parse(run("report", "--json", "--top", "0", ...args));

async function engineWith(...files) {
  const engine = await Engine.load(process.env.ENGINE_WASM);
  for (const file of files) {
    const opened = engine.open(fs.readFileSync(file), path.basename(file));
    assert.equal(opened.error, undefined);
  }
  return engine;
}

// A service for 12 s: requests, a collection each second, and an aggregation of 1.5 s at 4 s.
function writeService(file) {
  const stacks = {
    handler: ["(root)", "processTicksAndRejections", "onRequest", "render"],
    json: ["(root)", "processTicksAndRejections", "onRequest", "stringify"],
    gc: ["(root)", "processTicksAndRejections", "onRequest", "(garbage collector)"],
    idle: ["(root)", "(idle)"],
    aggregate: ["(root)", "listOnTimeout", "aggregateMetrics", "sum"],
  };
  const places = { processTicksAndRejections: "node:internal/process/task_queues", listOnTimeout: "node:internal/timers",
    onRequest: "file:///srv/app/routes/items.js", render: "file:///srv/app/node_modules/views/index.js",
    stringify: "file:///srv/app/lib/json.js", aggregateMetrics: "file:///srv/app/metrics.js", sum: "file:///srv/app/metrics.js" };
  const nodes = [], leaf = {};
  for (const [name, frames] of Object.entries(stacks)) {
    let parent;
    frames.forEach((functionName, depth) => {
      let node = nodes.find(known => known.path === frames.slice(0, depth + 1).join(";"));
      if (!node) {
        node = { id: nodes.length + 1, path: frames.slice(0, depth + 1).join(";"), children: [], hitCount: 0,
          callFrame: functionName.startsWith("(") ? { functionName, scriptId: "0", url: "", lineNumber: -1, columnNumber: -1 }
            : { functionName, scriptId: "1", url: places[functionName], lineNumber: 10 * depth, columnNumber: 2 } };
        nodes.push(node);
        parent?.children.push(node.id);
      }
      parent = node;
    });
    leaf[name] = parent.id;
  }
  const samples = [], timeDeltas = [];
  for (let ms = 0; ms < 12000; ++ms) {
    const name = ms >= 4000 && ms < 5500 ? "aggregate" : ms % 1000 < 30 ? "gc" : ms % 10 === 9 ? "idle" : ms % 3 ? "handler" : "json";
    samples.push(leaf[name]);
    timeDeltas.push(1000);
  }
  for (const node of nodes) delete node.path;
  fs.writeFileSync(file, JSON.stringify({ nodes, startTime: 0, endTime: 12_000_000, samples, timeDeltas }));
}

const profile = path.join(folder, "service.cpuprofile");
writeService(profile);
const recording = path.join(folder, "service.nscope");
if (nodescope) run("convert", profile, "-o", recording);
const plain = path.join(root, "tests/golden/recording/plain/input");
const needsZstd = { skip: canDecompress ? false : "this Node has no zstd" };
if (needsZstd.skip) console.log(`\nSKIPPED tests of compressed recordings: ${needsZstd.skip}, and there is no program zstd`);

const tableOf = (engine, query) => {
  const table = engine.ask({ view: "table", limit: 100000, ...query });
  assert.equal(table.error, undefined);
  const rows = table.names.map((name, i) => ({ name: table.places[i] && table.column.kind[i] === 1 ? `${name} ${table.places[i]}` : name,
    self: table.column.self[i], total: table.column.totals[i] }));
  return { total: table.total, rows };
};
const rowsOf = ({ rows }) => rows.map(({ name, self, total }) => ({ name, self, total }));

test("a recording without compression is read and asked", async () => {
  const engine = await engineWith(plain);
  const about = engine.ask("view=about");
  assert.equal(about.name, "input");
  assert.equal(about.accounting.taken, about.accounting.shown + about.accounting.lost + about.accounting.other_events);
  if (nodescope) {
    const expected = report(plain);
    const table = tableOf(engine, {});
    assert.equal(table.total, expected.total);
    assert.deepEqual(table.rows, rowsOf(expected));
  }
});

const selections = [
  [{}, []],
  [{ from: 4e9, to: 5.5e9 }, ["--from", "4s", "--until", "5.5s"]],
  [{ my: 1 }, ["--my-code"]],
  [{ count: "samples" }, ["--samples"]],
  [{ include: "onRequest", exclude: "render" }, ["--match", "onRequest", "--exclude", "render"]],
  [{ kinds: "gc" }, ["--kind", "gc"]],
  [{ group: "package", sort: "total" }, ["--by", "package", "--sort", "total"]],
  [{ group: "file" }, ["--by", "file"]],
];
for (const [query, args] of selections) {
  test(`the table of ${JSON.stringify(query)} is that of report ${args.join(" ")}`, needsZstd, async () => {
    const engine = await engineWith(recording);
    const expected = report(recording, ...args);
    const table = tableOf(engine, query);
    assert.equal(table.total, expected.total);
    assert.deepEqual(table.rows, rowsOf(expected));
  });
}

test("the flame graph of a range is that of collapse", needsZstd, async () => {
  const engine = await engineWith(recording);
  const flame = engine.ask({ view: "flame", from: 4e9, to: 5.5e9, min: 0, search: "AGGREGATE" });
  const folded = new Map(run("convert", recording, "--from", "4s", "--until", "5.5s", "--to", "folded").trim().split("\n")
    .map(line => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
  let leaves = 0, sum = 0;
  for (let i = 1; i < flame.column["tree.self"].length; ++i) {
    if (flame.column["tree.self"][i] === 0) continue;
    ++leaves;
    sum += flame.column["tree.self"][i];
  }
  assert.equal(leaves, folded.size);
  assert.equal(sum, flame.total);
  const matched = [...folded].filter(([stack]) => stack.includes("aggregate")).reduce((all, [, count]) => all + count, 0);
  const all = [...folded.values()].reduce((a, b) => a + b, 0);
  assert.equal(flame.matched / flame.total, matched / all);
  assert.ok(matched / all > 0.99);
});

test("heat map, lanes and causes count every sample", needsZstd, async () => {
  const engine = await engineWith(recording);
  const heat = engine.ask("view=heat&column_ns=1e9&rows=50&search=aggregate");
  assert.equal(heat.column.count.length, heat.columns_count * 50);
  assert.equal(heat.column.count.reduce((a, b) => a + b), 12000);
  assert.equal(heat.column.matched.reduce((a, b) => a + b), 1500);
  assert.equal(heat.column.cause[50], 1);
  const lanes = engine.ask("view=lanes&bins=12");
  assert.equal(lanes.column.count.reduce((a, b) => a + b), 12000);
  const causes = engine.ask("view=causes");
  const byKind = report(recording, "--by", "kind");
  assert.equal(causes.column.total.reduce((a, b) => a + b), byKind.total);
  assert.equal(causes.column.total[1], byKind.rows.find(row => row.kind === "gc").self);
});

test("stalls are those of report --stalls", needsZstd, async () => {
  const engine = await engineWith(recording);
  const { stalls, sentence } = engine.ask("view=stalls");
  const expected = JSON.parse(run("report", "--stalls", "--json", recording));
  assert.equal(sentence, expected.sentence);
  assert.deepEqual(stalls.map(({ thread, wall_ms, ...rest }) => rest), expected.stalls.map(({ pid, tid, kind, wall, ...rest }) => rest));
  assert.equal(stalls[0].name, "sum");
  assert.equal(stalls[0].why, "timer callback");
  assert.equal(stalls[0].to_ns - stalls[0].from_ns, 1.5e9);
});

test("a comparison has both sides, scaled", needsZstd, async () => {
  const engine = await engineWith(recording, recording);
  const flame = engine.ask({ view: "flame", file: 0, from: 4e9, to: 5.5e9, "base.file": 1, min: 0 });
  assert.equal(flame.column["tree.after_total"][0], flame.after_total);
  assert.ok(Math.abs(flame.before_total - flame.after_total) < 100);
  const table = engine.ask({ view: "table", from: 4e9, to: 5.5e9, "base.file": 1 });
  const row = table.names.indexOf("sum");
  assert.ok(table.column.self[row] > 4 * table.column.before_self[row]);
});

test("exports are read back with the same numbers", needsZstd, async () => {
  const engine = await engineWith(recording);
  const range = { from: 3e9, to: 6e9 };
  const expected = rowsOf(report(recording, "--from", "3s", "--until", "6s", "--samples"));
  for (const format of ["cpuprofile", "speedscope", "json", "pprof"]) {
    const exported = engine.ask({ view: "export", format, ...range });
    assert.equal(exported.error, undefined);
    const file = path.join(folder, `export${exported.extension}`);
    fs.writeFileSync(file, exported.column.bytes);
    const args = format === "cpuprofile" ? ["--exclude", "^\\(idle\\)$"] : [];
    const wanted = format === "cpuprofile" ? expected.filter(row => row.name !== "(idle)") : expected;
    const counted = rowsOf(report(file, "--samples", ...args)).filter(row => row.total > 0);
    assert.deepEqual(new Map(counted.map(row => [row.name, row.total])), new Map(wanted.map(row => [row.name, row.total])), format);
  }
  const text = bytes => Buffer.from(bytes).toString();
  const lines = text => text.trim().split("\n").sort();
  assert.deepEqual(lines(text(engine.ask({ view: "export", format: "folded", ...range }).column.bytes)),
    lines(run("convert", recording, "--to", "folded", "--from", "3s", "--until", "6s")));
  const svg = text(engine.ask({ view: "export", format: "svg", theme: "dark", ...range }).column.bytes);
  assert.ok(svg.startsWith("<?xml") && svg.includes("aggregateMetrics") && svg.trim().endsWith("</svg>"));
  const csv = text(engine.ask({ view: "export", format: "csv", ...range }).column.bytes).trim().split("\r\n");
  assert.equal(csv.length, 1 + expected.length);
});

test("a sandwich has the function between its callers and callees", needsZstd, async () => {
  const engine = await engineWith(recording);
  const table = engine.ask("view=table");
  const row = table.names.indexOf("onRequest");
  const sandwich = engine.ask({ view: "sandwich", name: "onRequest", place: table.places[row], min: 0 });
  assert.equal(sandwich.total, table.column.totals[row]);
  assert.equal(sandwich.self, table.column.self[row]);
  assert.equal(sandwich.column["callers.total"][0], sandwich.total);
  assert.equal(sandwich.column["callees.total"][0], sandwich.total);
  const names = side => [...sandwich.column[`${side}.label`]].map(label => sandwich.labels.names[label]);
  assert.deepEqual(names("callers"), ["onRequest", "processTicksAndRejections"]);
  assert.deepEqual(names("callees").sort(), ["(garbage collector)", "onRequest", "render", "stringify"]);
  assert.equal(engine.ask("view=sandwich&name=nobody").total, 0);
});

test("files and lines have the numbers of the table by file", needsZstd, async () => {
  const engine = await engineWith(recording);
  const { files } = engine.ask("view=files");
  const byFile = new Map(report(recording, "--by", "file").rows.map(row => [row.name, row]));
  assert.equal(files.length, 4);
  for (const { path, self, total } of files) {
    assert.deepEqual([self, total], [byFile.get(path).self, byFile.get(path).total]);
    const source = engine.ask({ view: "source", path });
    assert.equal(source.column.self.reduce((a, b) => a + b), self);
    assert.ok(source.functions.length > 0);
  }
  assert.equal(engine.ask("view=source&path=/nothing").column.line.length, 0);
});

test("what makes no sense is refused in words", async () => {
  const engine = await engineWith(plain);
  for (const query of ["", "view=", "view=nothing", "view=flame&file=9", "view=flame&from=x", "view=flame&threads=99",
    "view=flame&include=(", "view=flame&search=[", "view=heat&column_ns=-1", "view=heat&rows=0", "view=lanes&bins=0",
    "view=table&group=x", "view=flame&kinds=x", "view=flame&order=time", "view=flame&min=2", "view=flame&base.file=7",
    `view=flame&${"a=1&".repeat(5000)}`]) {
    const reply = engine.ask(query);
    assert.equal(typeof reply.error, "string", query);
    assert.ok(reply.error.length > 0, query);
  }
  assert.equal(typeof (await Engine.load(process.env.ENGINE_WASM)).ask("view=about").error, "string");
  assert.equal(typeof engine.open(Buffer.from("no recording"), "x").error, "string");
  assert.equal(engine.ask("view=about").error, undefined);
});
