// Runs the engine, our own C++ as WebAssembly, beside the page.

import { ZSTDDecoder } from 'zstddec';

export interface Request {
  id: number;
  wasm?: ArrayBuffer;
  open?: { name: string; bytes: ArrayBuffer };
  ask?: string;
}

export interface Answer {
  id: number;
  reply?: ArrayBuffer;
  error?: string;
}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  allocate(bytes: number): number;
  release(at: number): void;
  open(at: number, bytes: number, name: number, nameBytes: number): number;
  ask(query: number, bytes: number): number;
}

let engine: Exports;
const zstd = new ZSTDDecoder();

function memoryBytes(at: number, count: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(engine.memory.buffer as ArrayBuffer, at >>> 0, count >>> 0);
}

function decompressZstd(from: number, fromBytes: number, into: number, intoBytes: number): number {
  try {
    const raw = zstd.decode(memoryBytes(from, fromBytes), intoBytes >>> 0);
    if (raw.length !== intoBytes >>> 0) return 0;
    memoryBytes(into, intoBytes).set(raw);
    return 1;
  } catch {
    return 0;
  }
}

// The engine reads no file and prints nothing; its C library asks for these all the same.
const kNotSupported = 58;
const wasi = new Proxy(
  {},
  {
    get: (_, name) => (name === 'proc_exit' ? () => { throw new Error('the engine stopped'); } : () => kNotSupported),
  },
);

async function start(wasm: ArrayBuffer): Promise<void> {
  const [module] = await Promise.all([WebAssembly.compile(wasm), zstd.init()]);
  const imports: WebAssembly.Imports = { env: { decompress_zstd: decompressZstd } };
  for (const { module: from } of WebAssembly.Module.imports(module)) {
    if (from !== 'env') imports[from] = wasi as WebAssembly.ModuleImports;
  }
  engine = (await WebAssembly.instantiate(module, imports)).exports as unknown as Exports;
  engine._initialize();
}

function put(bytes: Uint8Array): number {
  const at = engine.allocate(bytes.length);
  if (at === 0) throw new Error('not enough memory for this recording');
  memoryBytes(at, bytes.length).set(bytes);
  return at;
}

function take(at: number): ArrayBuffer {
  const size = new DataView(engine.memory.buffer).getUint32(at >>> 0, true);
  return memoryBytes(at, size).slice().buffer;
}

function open(name: string, bytes: ArrayBuffer): ArrayBuffer {
  const encoded = new TextEncoder().encode(name);
  const file = put(new Uint8Array(bytes));
  const label = put(encoded);
  const reply = take(engine.open(file, bytes.byteLength, label, encoded.length));
  engine.release(label);
  engine.release(file);
  return reply;
}

function ask(query: string): ArrayBuffer {
  const encoded = new TextEncoder().encode(query);
  const at = put(encoded);
  const reply = take(engine.ask(at, encoded.length));
  engine.release(at);
  return reply;
}

// After a trap the engine's memory is in no known state: no answer is better than a wrong one.
let stopped = '';

async function answer(request: Request): Promise<Answer> {
  if (stopped) return { id: request.id, error: stopped };
  if (request.wasm) await start(request.wasm);
  else if (request.open) return { id: request.id, reply: open(request.open.name, request.open.bytes) };
  else if (request.ask !== undefined) return { id: request.id, reply: ask(request.ask) };
  return { id: request.id };
}

self.onmessage = async (event: MessageEvent<Request>) => {
  try {
    const result = await answer(event.data);
    self.postMessage(result, { transfer: result.reply ? [result.reply] : [] });
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) stopped = 'the engine stopped, most likely for want of memory; reload the page';
    self.postMessage({ id: event.data.id, error: stopped || String((error as Error).message ?? error) });
  }
};
