// Paints dominators: a box is as wide as what it keeps alive, and its colour says how much of that is new.

import { FlameLayout, type Boxes } from './flame_layout';
import { mix, type Theme } from './palette';

export const kIcicleRow = 22;
const kLeastWidth = 0.4;
const kLeastRounded = 6;

export interface Icicle extends Boxes {
  total: number;
  labels: string[];
  sizes: string[]; // what they retain, in words
  fresh?: Float64Array;
}

export interface IciclePart {
  layout: FlameLayout<Icicle>;
  zoom: number;
  x: number;
  width: number;
  rows: number;
  charWidth: number;
  hovered: number | null;
  focused: number | null;
  chosen: number | null;
}

export function drawIcicle(g: CanvasRenderingContext2D, theme: Theme, part: IciclePart): void {
  const { tree } = part.layout;
  for (let depth = 0; depth <= Math.min(part.rows - 1, tree.depth); depth++) {
    part.layout.visitRow(depth, part.zoom, part.width, kLeastWidth, (node, x, w) => box(g, theme, part, node, part.x + x, depth * kIcicleRow, w));
  }
  outline(g, part, part.chosen, 2, theme.get('accent'));
  outline(g, part, part.focused, 2, theme.get('accent'));
  outline(g, part, part.hovered, 1.5, theme.get('sel'));
}

function fill(theme: Theme, tree: Icicle, node: number): string {
  const share = tree.fresh && tree.width[node] > 0 ? tree.fresh[node] / tree.width[node] : 0;
  return mix(theme.get('g-same'), theme.get('g-up'), Math.min(1, share));
}

function box(g: CanvasRenderingContext2D, theme: Theme, part: IciclePart, node: number, x: number, y: number, w: number): void {
  const { tree } = part.layout;
  const width = Math.max(0.6, w - 1);
  g.fillStyle = fill(theme, tree, node);
  g.beginPath();
  g.roundRect(x, y, width, kIcicleRow - 1, w > kLeastRounded ? 2 : 0);
  g.fill();
  const room = Math.floor((w - 12) / part.charWidth);
  if (room < 3) return;
  const label = tree.labels[node];
  g.textAlign = 'left';
  g.font = `11px ${theme.get('mono')}`;
  g.fillStyle = theme.get('k-ink');
  const name = label.length > room ? `${label.slice(0, room - 1)}…` : label;
  g.fillText(name, x + 6, y + kIcicleRow / 2, w - 10);
  const bytes = tree.sizes[node];
  if (name.length + bytes.length + 3 > room) return;
  g.textAlign = 'right';
  g.fillStyle = theme.get('k-ink2');
  g.fillText(bytes, x + width - 6, y + kIcicleRow / 2);
}

function outline(g: CanvasRenderingContext2D, part: IciclePart, node: number | null, thickness: number, colour: string): void {
  if (node === null) return;
  const { tree } = part.layout;
  const depth = tree.nodeDepth[node];
  const isAbove = depth <= tree.nodeDepth[part.zoom];
  const scale = part.width / Math.max(1, tree.width[part.zoom]);
  const from = isAbove ? 0 : (tree.start[node] - tree.start[part.zoom]) * scale;
  const w = isAbove ? part.width : tree.width[node] * scale;
  if (depth >= part.rows || from < -1 || from > part.width) return;
  g.strokeStyle = colour;
  g.lineWidth = thickness;
  g.strokeRect(part.x + from + 0.75, depth * kIcicleRow + 0.75, Math.max(1, w - 2.5), kIcicleRow - 2.5);
}
