import { describe, expect, it } from 'vitest';
import type { Replies } from '../src/wire/generated';
import { parseReply } from '../src/wire/reply';
import { TraceMap } from '@jridgewell/trace-mapping';
import { countOriginals, groupByOriginal, loadMap, mapAddress, pathOfOriginal, readOriginals } from '../src/app/source_map';
import { TimeAxis } from '../src/draw/time_axis';

function reply(json: object, tail: ArrayBuffer): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(json));
  const offset = Math.ceil((8 + text.length) / 8) * 8;
  const bytes = new Uint8Array(offset + tail.byteLength);
  new DataView(bytes.buffer).setUint32(0, bytes.length, true);
  new DataView(bytes.buffer).setUint32(4, text.length, true);
  bytes.set(text, 8);
  bytes.set(new Uint8Array(tail), offset);
  return bytes.buffer;
}

describe('a reply', () => {
  it('has no member that the engine does not describe', () => {
    const reply = {} as Replies['lanes'];
    expect(reply.first_ns).toBeUndefined();
    // @ts-expect-error: a name that only the page knows does not compile
    expect(reply.from_ns).toBeUndefined();
  });

  it('has words and columns', () => {
    const pad = (n: number) => String(n).padStart(4, '0');
    const place = (offset: string) => ({ type: 'f64', offset: Number(offset), count: 2 });
    const make = (offset: string) => reply({ names: ['<script>', 'ü'], tree: { depth: 1 }, columns: { total: place(offset), 'tree.total': place(offset) } }, Float64Array.of(1.5, -2).buffer);
    const length = new DataView(make(pad(1000))).getUint32(4, true);
    const parsed = parseReply(make(pad(Math.ceil((8 + length) / 8) * 8)));
    const total = Float64Array.of(1.5, -2);
    expect(parsed).toEqual({ names: ['<script>', 'ü'], total, tree: { depth: 1, total } });
  });
});

describe('source maps', () => {
  it('are named at the end of a file', () => {
    expect(mapAddress('x();\n//# sourceMappingURL=a.js.map\n')).toBe('a.js.map');
    expect(mapAddress('x();\n/*# sourceMappingURL=b.map */')).toBe('b.map');
    expect(mapAddress('//# sourceMappingURL=old.map\n//# sourceMappingURL=new.map')).toBe('new.map');
    expect(mapAddress('x()')).toBeNull();
    expect(mapAddress(`//# sourceMappingURL=a.map${'\n'.repeat(5000)}`)).toBeNull();
    const inside = `data:application/json;base64,${'AAAA'.repeat(5000)}`;
    expect(mapAddress(`x()\n//# sourceMappingURL=${inside}\n`)).toBe(inside);
  });

  // The same as originals_without_text() in C++: a recording and the server know these files by such names.
  it('lead to files, from where the map is', async () => {
    const asked: string[] = [];
    const namesFrom = async (place: string, sources: string[], sourceRoot?: string) => {
      const map = await loadMap(place, '//# sourceMappingURL=a.js.map', async () => JSON.stringify({ version: 3, sources, sourceRoot, names: [], mappings: '' }));
      return map!.resolvedSources.map((source) => pathOfOriginal(source!));
    };
    expect(await namesFrom('/srv/app/dist/a.js', ['../src/a.ts', 'b.js', './c/../d%20+.vue', '/srv/app/e.mts', 'file:///srv/app/f.ts', '%zz.ts', 'webpack:///./src/a.ts'])).toEqual([
      '/srv/app/src/a.ts', '/srv/app/dist/b.js', '/srv/app/dist/d +.vue', '/srv/app/e.mts', '/srv/app/f.ts', '/srv/app/dist/%zz.ts', null]);
    expect(await namesFrom('file:///srv/my%20app/dist/a.js', ['../src/a.ts'])).toEqual(['/srv/my app/src/a.ts']);
    expect(await namesFrom('/app/dist/a.js', ['a.ts', 'b.ts'], '../src')).toEqual(['/app/src/a.ts', '/app/src/b.ts']);

    const map = new TraceMap({ version: 3, sources: ['/app/a.ts', '/app/b.ts'], sourcesContent: ['inside', null], names: [], mappings: '' });
    const counts = ['/app/a.ts', '/app/b.ts'].map((path) => ({ file: { path, lines: [] }, self: new Map(), total: new Map() }));
    const read = async (path: string) => (asked.push(path), 'from\ndisk');
    expect((await readOriginals(map, counts, read)).map(({ file }) => file.lines)).toEqual([['inside'], ['from', 'disk']]);
    expect(asked).toEqual(['/app/b.ts']);
  });

  it('make one line of several places', async () => {
    // Line by line: 1 -> 1, 2 and 3 -> 2; the fourth line comes from nowhere.
    const map = new TraceMap({ version: 3, sources: ['a.ts'], sourcesContent: ['one\ntwo'], names: [], mappings: 'AAAA;AACA;AAAA;A' });
    const { groups, originals } = groupByOriginal(map, { line: [1, 2, 3, 4], column: [1, 1, 1, 1] });
    expect(groups).toEqual([0, 1, 1, 2]);
    const [counts] = await readOriginals(map, countOriginals(originals, { self: [1, 2, 9], total: [3, 4, 9] }), async () => null);
    expect(counts.file).toEqual({ path: 'a.ts', lines: ['one', 'two'] });
    expect([...counts.self]).toEqual([[1, 1], [2, 2]]);
    expect([...counts.total]).toEqual([[1, 3], [2, 4]]);
  });
});

describe('the time axis', () => {
  it('has a column for each second of a minute', () => {
    const axis = new TimeAxis([0, 60e9], 1168);
    expect([axis.columnNs, axis.columns, axis.fromNs]).toEqual([1e9, 60, 0]);
    expect(axis.columnAt(axis.columnX(17) + 2)).toBe(17);
    expect(Math.round(axis.timeAt(axis.xOf(31.5e9)) / 1e6)).toBe(31500);
  });

  it('has columns of minutes for a day', () => {
    const axis = new TimeAxis([0, 86400e9], 1168);
    expect(axis.columnNs).toBe(300e9);
    expect(axis.columns).toBe(288);
  });

  it('begins at a whole column', () => {
    const axis = new TimeAxis([10.4e9, 20.2e9], 1168);
    expect([axis.fromNs, axis.toNs, axis.columns]).toEqual([10e9, 21e9, 11]);
  });
});
