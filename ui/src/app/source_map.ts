// Where generated code came from, if its file says so.

import { originalPositionFor, sourceContentFor, TraceMap } from '@jridgewell/trace-mapping';
import { readSource } from '../wire/recordings';

export interface SourceFile {
  path: string;
  lines: string[];
}

export interface MappedCounts {
  file: SourceFile;
  self: Map<number, number>; // by line
  total: Map<number, number>;
}

const kMaxMapBytes = 32 << 20;

export function mapAddress(text: string): string | null {
  const found = [...text.slice(-4096).matchAll(/[#@]\s*sourceMappingURL=([^\s'"]+)/g)].at(-1);
  return found ? found[1] : null;
}

function decodeDataAddress(address: string): string | null {
  const match = /^data:application\/json[^,]*?(;base64)?,(.*)$/s.exec(address);
  if (!match || match[2].length > kMaxMapBytes) return null;
  try {
    return match[1] ? new TextDecoder().decode(Uint8Array.from(atob(match[2]), (c) => c.charCodeAt(0))) : decodeURIComponent(match[2]);
  } catch {
    return null;
  }
}

export async function loadMap(path: string, text: string): Promise<TraceMap | null> {
  const address = mapAddress(text);
  if (!address) return null;
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const json = address.startsWith('data:') ? decodeDataAddress(address) : await readSource(folder + decodeURIComponent(address));
  if (!json) return null;
  try {
    return new TraceMap(json.replace(/^\)\]\}'/, ''));
  } catch {
    return null; // a damaged map: the generated file is shown
  }
}

// Counts by line of a generated file, by line of the sources that it was made from.
export function mapCounts(
  map: TraceMap,
  counts: { line: ArrayLike<number>; column: ArrayLike<number>; self: ArrayLike<number>; total: ArrayLike<number> },
): MappedCounts[] {
  const byPath = new Map<string, MappedCounts>();
  for (let i = 0; i < counts.line.length; i++) {
    const original = originalPositionFor(map, { line: Math.max(1, counts.line[i]), column: Math.max(0, counts.column[i] - 1) });
    if (original.source === null) continue;
    let entry = byPath.get(original.source);
    if (!entry) {
      const content = sourceContentFor(map, original.source);
      entry = { file: { path: original.source, lines: content ? content.split('\n') : [] }, self: new Map(), total: new Map() };
      byPath.set(original.source, entry);
    }
    entry.self.set(original.line, (entry.self.get(original.line) ?? 0) + counts.self[i]);
    entry.total.set(original.line, (entry.total.get(original.line) ?? 0) + counts.total[i]);
  }
  return [...byPath.values()];
}
