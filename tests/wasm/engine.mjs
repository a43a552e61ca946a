// Runs engine.wasm outside of a browser, as the page's worker runs it.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import zlib from "node:zlib";

// Node has zstd since 22.15; before that the program of that name does it.
const unzstd = zlib.zstdDecompressSync ?? (bytes => {
  const { status, stdout } = spawnSync("zstd", ["-dc"], { input: bytes, maxBuffer: 1 << 30 });
  if (status !== 0) throw new Error("zstd failed");
  return stdout;
});
export const canDecompress = zlib.zstdDecompressSync !== undefined || spawnSync("zstd", ["--version"]).status === 0;

export class Engine {
  static async load(path) {
    const engine = new Engine();
    const nothing = () => 0;
    const wasi = new Proxy({}, {
      get: (_, name) => name === "proc_exit" ? code => { throw new Error(`the engine ended with ${code}`); }
        : name === "fd_write" ? (fd, parts, count, written) => engine.print(parts, count, written) : nothing,
    });
    const imports = { wasi_snapshot_preview1: wasi, env: { decompress_zstd: (...args) => engine.decompress(...args) } };
    const { instance } = await WebAssembly.instantiate(fs.readFileSync(path), imports);
    engine.exports = instance.exports;
    engine.exports._initialize();
    return engine;
  }

  bytes(at, count) { return new Uint8Array(this.exports.memory.buffer, at >>> 0, count); }

  print(parts, count, written) {
    const view = new DataView(this.exports.memory.buffer);
    let total = 0;
    for (let i = 0; i < count; ++i) {
      const size = view.getUint32(parts + 8 * i + 4, true);
      process.stderr.write(this.bytes(view.getUint32(parts + 8 * i, true), size));
      total += size;
    }
    view.setUint32(written, total, true);
    return 0;
  }

  decompress(from, fromBytes, into, intoBytes) {
    try {
      const raw = unzstd(this.bytes(from, fromBytes));
      if (raw.length !== intoBytes >>> 0) return 0;
      this.bytes(into, intoBytes >>> 0).set(raw);
      return 1;
    } catch { return 0; }
  }

  put(bytes) {
    const at = this.exports.allocate(bytes.length);
    this.bytes(at, bytes.length).set(bytes);
    return at;
  }

  open(file, name) {
    const at = this.put(file), text = Buffer.from(name), nameAt = this.put(text);
    const reply = this.read(this.exports.open(at, file.length, nameAt, text.length));
    this.exports.release(at);
    this.exports.release(nameAt);
    return reply;
  }

  // `query` is an object or a text; the answer is the JSON with its columns as typed arrays.
  ask(query) {
    const text = Buffer.from(typeof query === "string" ? query : new URLSearchParams(query).toString());
    const at = this.put(text);
    const reply = this.read(this.exports.ask(at, text.length));
    this.exports.release(at);
    return reply;
  }

  read(at) {
    at = at >>> 0;
    const [total, jsonBytes] = new Uint32Array(this.exports.memory.buffer, at, 2);
    const copy = this.bytes(at, total).slice();
    const reply = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(copy.subarray(8, 8 + jsonBytes)));
    const types = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array };
    reply.column = {};
    for (const [name, { type, offset, count }] of Object.entries(reply.columns ?? {})) {
      reply.column[name] = new types[type](copy.buffer, offset, count);
    }
    return reply;
  }
}
