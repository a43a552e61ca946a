// Where the boxes of a call tree are.  No canvas here: plain numbers, tested as such.

import type { Tree } from '../wire/views';

export const kRowHeight = 19;

export type Boxes = Pick<Tree, 'depth' | 'parent' | 'nodeDepth' | 'start' | 'width'>;

export class FlameLayout<T extends Boxes = Tree> {
  private readonly levels: Uint32Array; // the first node of each depth, and the end

  constructor(readonly tree: T) {
    const count = tree.parent.length;
    this.levels = new Uint32Array(tree.depth + 2).fill(count);
    for (let i = count - 1; i >= 0; i--) this.levels[tree.nodeDepth[i]] = i;
  }

  get depth(): number {
    return this.tree.depth;
  }

  // From the root to `node`.
  path(node: number): number[] {
    const path = [node];
    while (node !== 0) {
      node = this.tree.parent[node];
      path.push(node);
    }
    return path.reverse();
  }

  // Calls `visit` for each box of `depth` that is at least `least` pixels wide when `zoom` fills `width`; ancestors of `zoom` fill it too.
  visitRow(depth: number, zoom: number, width: number, least: number, visit: (node: number, x: number, w: number) => void): void {
    const { tree } = this;
    if (depth <= tree.nodeDepth[zoom]) {
      let node = zoom;
      while (tree.nodeDepth[node] > depth) node = tree.parent[node];
      visit(node, 0, width);
      return;
    }
    const begin = tree.start[zoom];
    const end = begin + tree.width[zoom];
    const scale = tree.width[zoom] > 0 ? width / tree.width[zoom] : 0;
    let drawnUpTo = -1;
    for (let node = this.firstAt(depth, begin); node < this.levels[depth + 1]; node++) {
      const start = tree.start[node];
      if (start >= end) break;
      const w = tree.width[node] * scale;
      const x = (start - begin) * scale;
      // Of boxes that fall into one pixel the first is enough.
      if (w < least && x + w < drawnUpTo + least) continue;
      drawnUpTo = x + w;
      visit(node, x, w);
    }
  }

  nodeAt(depth: number, zoom: number, x: number, width: number): number | null {
    const { tree } = this;
    if (depth < 0 || depth > tree.depth || x < 0 || x >= width) return null;
    if (depth <= tree.nodeDepth[zoom]) return this.path(zoom)[depth];
    const position = tree.start[zoom] + (x / width) * tree.width[zoom];
    let node = this.firstAt(depth, position);
    if (node >= this.levels[depth + 1] || tree.start[node] > position) node--;
    if (node < this.levels[depth]) return null;
    return position >= tree.start[node] && position < tree.start[node] + tree.width[node] ? node : null;
  }

  children(node: number): number[] {
    const { tree } = this;
    const depth = tree.nodeDepth[node] + 1;
    if (depth > tree.depth) return [];
    const out: number[] = [];
    for (let i = this.firstAt(depth, tree.start[node]); i < this.levels[depth + 1] && tree.parent[i] <= node; i++) {
      if (tree.parent[i] === node) out.push(i);
    }
    return out;
  }

  // The neighbour in the same row; null at the edge.
  sibling(node: number, step: 1 | -1): number | null {
    const next = node + step;
    if (next < 0 || next >= this.tree.parent.length) return null;
    return this.tree.nodeDepth[next] === this.tree.nodeDepth[node] ? next : null;
  }

  // Rows with a box of `least` pixels for which `is` holds, from the root on, each with its widest such box.
  widestOfRows(zoom: number, width: number, least: number, is: (node: number) => boolean): { row: number; width: number }[] {
    const rows: { row: number; width: number }[] = [];
    for (let row = this.tree.nodeDepth[zoom]; row <= this.tree.depth; row++) {
      let widest = 0;
      this.visitRow(row, zoom, width, least, (node, _, w) => is(node) && (widest = Math.max(widest, w)));
      if (widest >= least) rows.push({ row, width: widest });
    }
    return rows;
  }

  // The deepest row that has a box of `least` pixels when `zoom` fills `width`.
  visibleDepth(zoom: number, width: number, least: number): number {
    const { tree } = this;
    const smallest = tree.width[zoom] > 0 ? (least / width) * tree.width[zoom] : 0;
    const begin = tree.start[zoom];
    const end = begin + tree.width[zoom];
    let deepest = tree.nodeDepth[zoom];
    for (let depth = deepest + 1; depth <= tree.depth; depth++) {
      let found = false;
      for (let node = this.firstAt(depth, begin); node < this.levels[depth + 1] && tree.start[node] < end; node++) {
        if (tree.width[node] >= smallest) {
          found = true;
          break;
        }
      }
      if (!found) break;
      deepest = depth;
    }
    return deepest;
  }

  private firstAt(depth: number, start: number): number {
    let low = this.levels[depth];
    let high = this.levels[depth + 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.tree.start[middle] < start) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
