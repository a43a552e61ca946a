// Where the page's recordings come from: from inside of the page itself, or from the server that showed it.

export interface Source {
  name: string;
  bytes: number;
  read(): Promise<ArrayBuffer>;
}

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const compact = text.trim();
  const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, compact);
  // In pieces: one string of 40 MB costs several times as much.
  const kPiece = 1 << 20;
  const out = new Uint8Array(Math.floor((compact.length * 3) / 4));
  let size = 0;
  for (let at = 0; at < compact.length; at += kPiece) {
    const binary = atob(compact.slice(at, at + kPiece));
    for (let i = 0; i < binary.length; i++) out[size++] = binary.charCodeAt(i);
  }
  return out.slice(0, size);
}

export async function readEngine(): Promise<ArrayBuffer> {
  const element = document.getElementById('engine');
  if (!element) throw new Error('this page was built without its engine');
  const stream = new Blob([decodeBase64(element.textContent ?? '')]).stream().pipeThrough(new DecompressionStream('gzip'));
  const wasm = await new Response(stream).arrayBuffer();
  element.remove();
  return wasm;
}

function embedded(): Source[] {
  return [...document.querySelectorAll<HTMLScriptElement>('script[type="application/octet-stream;base64"][data-name]')].map((element) => ({
    name: element.dataset.name ?? 'recording',
    bytes: Math.floor(((element.textContent ?? '').length * 3) / 4),
    async read() {
      const bytes = decodeBase64(element.textContent ?? '');
      element.remove();
      return bytes.buffer;
    },
  }));
}

export async function fetched(path: string): Promise<Response> {
  const response = await fetch(path, { cache: 'no-store' });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).trim()}`);
  return response;
}

// Heap snapshots stay with the server, which answers for them.
export interface Listed {
  name: string;
  bytes?: number;
  heap?: boolean;
}

export async function listed(): Promise<Listed[]> {
  return (await fetched('recordings')).json();
}

async function served(): Promise<Source[]> {
  const list = await listed();
  return list.map(({ name, bytes = 0 }, index) => ({
    name,
    bytes,
    async read() {
      return (await fetched(`recordings/${index}`)).arrayBuffer();
    },
  }));
}

export function isServed(): boolean {
  return location.protocol === 'http:';
}

export async function findRecordings(): Promise<Source[]> {
  const inside = embedded();
  if (inside.length > 0) return inside;
  if (!isServed()) throw new Error('this page holds no recording');
  return served();
}

// The text of a source file, where the server has it.
export async function readSource(path: string, generated?: string): Promise<string | null> {
  if (!isServed()) return null;
  const query = new URLSearchParams(generated ? { path, of: generated } : { path });
  const response = await fetch(`source?${query}`, { cache: 'no-store' });
  return response.ok ? response.text() : null;
}

// This page with its recordings inside, as `nodescope view -o report.html` writes it.
export async function wholePage(): Promise<Blob> {
  const page = await (await fetched('./')).text();
  // In two parts: the page must hold the whole of it only where the data belong.
  const mark = ['<!--nodescope', 'data-->'].join('-');
  const at = page.indexOf(mark);
  const parts: BlobPart[] = [page.slice(0, at)];
  for (const source of await served()) {
    const bytes = new Uint8Array(await source.read());
    parts.push(`<script type="application/octet-stream;base64" data-name="${escapeAttribute(source.name)}">`);
    const kPiece = 3 << 16;
    for (let i = 0; i < bytes.length; i += kPiece) parts.push(encodeBase64(bytes.subarray(i, i + kPiece)));
    parts.push('</script>\n');
  }
  parts.push(page.slice(at + mark.length));
  return new Blob(parts, { type: 'text/html' });
}

function encodeBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(binary);
}

function escapeAttribute(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
