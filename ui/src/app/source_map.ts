// Where generated code came from, if its file says so.

import { FlattenMap, originalPositionFor, sourceContentFor, type TraceMap } from '@jridgewell/trace-mapping';
import type { ReadText } from './source_text';

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

// At the end of the file, as compilers write it.  One that holds the map itself can be long.
const kMaxBytesBehind = 4096;

export function mapAddress(text: string): string | null {
  const mark = 'sourceMappingURL=';
  const at = text.lastIndexOf(mark);
  if (at < 0) return null;
  const rest = text.slice(at + mark.length);
  const end = rest.search(/[\s'"]|$/);
  return end > 0 && rest.length - end <= kMaxBytesBehind ? rest.slice(0, end) : null;
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

function decodePath(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

export async function loadMap(path: string, text: string, read: ReadText): Promise<TraceMap | null> {
  const address = mapAddress(text);
  if (!address) return null;
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const isInside = address.startsWith('data:');
  const place = isInside ? path : folder + decodePath(address);
  const json = isInside ? decodeDataAddress(address) : await read(place);
  if (!json) return null;
  try {
    return new FlattenMap(json.slice(Math.max(0, json.indexOf('{'))), place);
  } catch {
    return null; // a damaged map: the generated file is shown
  }
}

interface Places {
  line: ArrayLike<number>;
  column: ArrayLike<number>;
}

export interface Original {
  source: string;
  line: number;
}

export function originalOf(map: TraceMap, line: number, column: number): Original | null {
  const found = originalPositionFor(map, { line: Math.max(1, line), column: Math.max(0, column - 1) });
  return found.source === null ? null : { source: found.source, line: found.line };
}

// Which places of a generated file are one line of an original: a group for each place.  The last group is of places that come from nowhere.
export function groupByOriginal(map: TraceMap, places: Places): { groups: number[]; originals: Original[] } {
  const ids = new Map<string, number>();
  const originals: Original[] = [];
  const found = Array.from(places.line, (line, i) => originalOf(map, line, places.column[i]));
  const groups = found.map((original) => {
    if (!original) return -1;
    const key = `${original.line} ${original.source}`;
    if (!ids.has(key)) ids.set(key, originals.push(original) - 1);
    return ids.get(key)!;
  });
  return { groups: groups.map((group) => (group < 0 ? originals.length : group)), originals };
}

// The path of an original, as the server and recordings name it; null where it is no file: "webpack://…".
export function pathOfOriginal(source: string): string | null {
  const path = source.replace(/^file:\/\/(?=\/)/, '');
  return path.startsWith('/') ? decodePath(path) : null;
}

async function textOfOriginal(map: TraceMap, source: string, read: ReadText): Promise<string | null> {
  const inside = sourceContentFor(map, source);
  if (inside) return inside;
  const path = pathOfOriginal(source);
  return path ? read(path) : null;
}

// Only originals whose text is at hand.
export async function readOriginals(map: TraceMap, counts: MappedCounts[], read: ReadText): Promise<MappedCounts[]> {
  const texts = await Promise.all(counts.map(({ file }) => textOfOriginal(map, file.path, read)));
  texts.forEach((text, i) => (counts[i].file.lines = text ? text.split('\n') : []));
  return counts.filter((_, i) => texts[i]);
}

export function countOriginals(originals: Original[], sums: { self: ArrayLike<number>; total: ArrayLike<number> }): MappedCounts[] {
  const byPath = new Map<string, MappedCounts>();
  originals.forEach(({ source, line }, i) => {
    let entry = byPath.get(source);
    if (!entry) {
      entry = { file: { path: source, lines: [] }, self: new Map(), total: new Map() };
      byPath.set(source, entry);
    }
    entry.self.set(line, sums.self[i]);
    entry.total.set(line, sums.total[i]);
  });
  return [...byPath.values()];
}
