import { describe, expect, it } from 'vitest';
import { FlameLayout } from '../src/draw/flame_layout';
import type { Tree } from '../src/wire/views';

// all(100) -> a(60) -> c(20) d(30); b(30) -> e(30)
function smallTree(): Tree {
  return {
    total: 100,
    depth: 2,
    parent: Uint32Array.of(0, 0, 0, 1, 1, 2),
    nodeDepth: Uint32Array.of(0, 1, 1, 2, 2, 2),
    label: Uint32Array.of(0, 1, 2, 3, 4, 5),
    start: Float64Array.of(0, 10, 70, 20, 40, 70),
    width: Float64Array.of(100, 60, 30, 20, 30, 30),
    nodeTotal: Float64Array.of(100, 60, 30, 20, 30, 30),
    nodeSelf: Float64Array.of(10, 10, 0, 20, 30, 30),
    tier: new Uint8Array(6),
    inlined: new Uint8Array(6),
  };
}

function row(layout: FlameLayout, depth: number, zoom: number, least = 0): [number, number, number][] {
  const out: [number, number, number][] = [];
  layout.visitRow(depth, zoom, 100, least, (node, x, w) => out.push([node, x, w]));
  return out;
}

describe('a flame graph', () => {
  const layout = new FlameLayout(smallTree());

  it('has its boxes where their weight is', () => {
    expect(row(layout, 0, 0)).toEqual([[0, 0, 100]]);
    expect(row(layout, 1, 0)).toEqual([[1, 10, 60], [2, 70, 30]]);
    expect(row(layout, 2, 0)).toEqual([[3, 20, 20], [4, 40, 30], [5, 70, 30]]);
  });

  it('zooms: callers fill the width, others are gone', () => {
    expect(row(layout, 0, 1)).toEqual([[0, 0, 100]]);
    expect(row(layout, 1, 1)).toEqual([[1, 0, 100]]);
    expect(row(layout, 2, 1).map(([node, x, w]) => [node, Math.round(x), Math.round(w)])).toEqual([[3, 17, 33], [4, 50, 50]]);
  });

  it('tells the rows where something is', () => {
    expect(layout.widestOfRows(0, 100, 4, (node) => node === 1 || node > 2)).toEqual([{ row: 1, width: 60 }, { row: 2, width: 30 }]);
    expect(layout.widestOfRows(0, 100, 25, (node) => node === 3)).toEqual([]);
    expect(layout.widestOfRows(1, 100, 25, (node) => node === 3).map(({ row }) => row)).toEqual([2]);
  });

  it('finds what is under the pointer', () => {
    expect(layout.nodeAt(1, 0, 9.9, 100)).toBeNull();
    expect(layout.nodeAt(1, 0, 10, 100)).toBe(1);
    expect(layout.nodeAt(1, 0, 69.9, 100)).toBe(1);
    expect(layout.nodeAt(1, 0, 70, 100)).toBe(2);
    expect(layout.nodeAt(2, 1, 99, 100)).toBe(4);
    expect(layout.nodeAt(0, 4, 50, 100)).toBe(0);
    expect(layout.nodeAt(1, 4, 50, 100)).toBe(1);
    expect(layout.nodeAt(3, 0, 50, 100)).toBeNull();
    expect(layout.nodeAt(-1, 0, 50, 100)).toBeNull();
  });

  it('knows its relations', () => {
    expect(layout.path(4)).toEqual([0, 1, 4]);
    expect(layout.children(0)).toEqual([1, 2]);
    expect(layout.children(1)).toEqual([3, 4]);
    expect(layout.children(5)).toEqual([]);
    expect(layout.sibling(3, 1)).toBe(4);
    expect(layout.sibling(3, -1)).toBeNull();
    expect(layout.sibling(5, 1)).toBeNull();
  });

  it('draws one box for many that share a pixel', () => {
    const count = 1000;
    const many: Tree = {
      ...smallTree(),
      depth: 1,
      total: count,
      parent: new Uint32Array(count + 1),
      nodeDepth: Uint32Array.from({ length: count + 1 }, (_, i) => (i === 0 ? 0 : 1)),
      label: new Uint32Array(count + 1),
      start: Float64Array.from({ length: count + 1 }, (_, i) => Math.max(0, i - 1)),
      width: Float64Array.from({ length: count + 1 }, (_, i) => (i === 0 ? count : 1)),
      nodeSelf: new Float64Array(count + 1),
    };
    const drawn = row(new FlameLayout(many), 1, 0, 0.4);
    expect(drawn.length).toBeLessThan(300);
    expect(drawn.length).toBeGreaterThan(100);
    expect(new FlameLayout(many).visibleDepth(0, 100, 0.4)).toBe(0);
    expect(new FlameLayout(many).visibleDepth(0, 1000, 0.4)).toBe(1);
  });
});
