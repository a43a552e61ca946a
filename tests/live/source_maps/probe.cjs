// Each __probe(name) is called in a function of that name: writes where V8 says that it and its callers are and begin, and what
// --enable-source-maps makes of it.
const fs = require("fs");
const inspector = require("inspector");
const session = new inspector.Session();
session.connect();
const urls = new Map();
session.on("Debugger.scriptParsed", (m) => urls.set(m.params.scriptId, m.params.url));
let frames;
session.on("Debugger.paused", (m) => {
  frames = m.params.callFrames.map((f) => ({ file: (f.url || urls.get(f.location.scriptId) || "").replace(/^file:\/\//, ""), fn: f.functionName || null, line: f.location.lineNumber + 1, col: f.location.columnNumber + 1, eline: f.functionLocation.lineNumber + 1, ecol: f.functionLocation.columnNumber + 1 }));
  session.post("Debugger.resume");
});
session.post("Debugger.enable");
const out = [];
globalThis.__probe = (name) => {
  debugger;
  Error.stackTraceLimit = 50;
  const text = new Error("x").stack;
  out.push({ name, frames: frames.slice(1), text: text.split("\n").slice(2) });
};
process.on("exit", () => fs.writeFileSync(process.env.PROBE_OUT, JSON.stringify(out)));
