// The heat map: a column is a second (or more, in long recordings), a row a part of it.

import { clock } from '../app/format';
import type { HeatMode, Range } from '../app/state';
import { kCauses, type Heat, type Marker } from '../wire/views';
import { hatch, prepare } from './canvas';
import type { Theme } from './palette';
import { kGutter, type TimeAxis } from './time_axis';

export const kHeatTop = 2;
const kAxisHeight = 22;
const kUnlit = 0.1;

export interface HeatPicture {
  heat: Heat | null;
  axis: TimeAxis;
  rows: number;
  rowHeight: number;
  mode: HeatMode;
  lit: string | null; // the cause whose cells are not dimmed
  range: Range | null;
  base: Range | null;
  lost: readonly Marker[];
  hovered: { column: number; row: number } | null;
  title: string;
  subtitle: string;
  theme: Theme;
}

export function heatHeight(rows: number, rowHeight: number): number {
  return kHeatTop + rows * rowHeight + kAxisHeight;
}

// How strong a cell is: steady load stays quiet and a stall burns.
function strength(heat: Heat, count: number): number {
  const top = Math.max(4, heat.p995);
  return Math.min(1, (count / top) ** 1.45);
}

export function drawHeat(canvas: HTMLCanvasElement, picture: HeatPicture): void {
  const { axis, rows, rowHeight } = picture;
  const g = prepare(canvas, axis.width, heatHeight(rows, rowHeight));
  drawCells(g, picture);
  for (const marker of picture.lost) drawLost(g, picture, marker);
  drawScales(g, picture);
  if (picture.range || picture.base) drawSelection(g, picture);
  if (picture.hovered) {
    const { column, row } = picture.hovered;
    const x = axis.columnX(column);
    g.strokeStyle = picture.theme.get('sel');
    g.lineWidth = 1;
    g.strokeRect(x - 0.5, kHeatTop + row * rowHeight - 0.5, axis.columnX(column + 1) - x, rowHeight + 1);
  }
}

function drawCells(g: CanvasRenderingContext2D, { heat, axis, rows, rowHeight, mode, lit, theme }: HeatPicture): void {
  const gap = axis.columnWidth >= 5 ? 1 : 0;
  const left = axis.columnX(0);
  const height = rows * rowHeight;
  g.fillStyle = theme.get(mode === 'cause' ? 'k-idle' : 'h0');
  for (let column = 0; column < axis.columns; column++) {
    g.fillRect(axis.columnX(column), kHeatTop, axis.columnX(column + 1) - axis.columnX(column) - gap, height);
  }
  if (!heat || heat.rows !== rows || heat.column_ns !== axis.columnNs) {
    g.fillStyle = theme.get('ink3');
    g.font = `11px ${theme.get('sans')}`;
    g.textAlign = 'left';
    if (!heat) g.fillText('Counting samples…', left + 8, kHeatTop + 16);
    return;
  }
  const shift = Math.round((axis.fromNs - heat.first_column_ns) / axis.columnNs);
  const searching = heat.matched !== undefined;
  for (let column = 0; column < axis.columns; column++) {
    const from = column + shift;
    if (from < 0 || from >= heat.columns_count) continue;
    const x = axis.columnX(column);
    const w = axis.columnX(column + 1) - x - gap;
    for (let row = 0; row < rows; row++) {
      const cell = from * rows + row;
      const count = heat.count[cell];
      const y = kHeatTop + row * rowHeight;
      if (count === 0) continue;
      const level = strength(heat, count);
      if (searching) {
        const share = heat.matched![cell] / count;
        g.globalAlpha = share > 0 ? 1 : 0.16;
        g.fillStyle = share > 0 ? theme.get('accent') : theme.heatColour(level);
        if (share > 0) g.globalAlpha = 0.25 + 0.75 * share;
      } else if (mode === 'cause') {
        const cause = kCauses[heat.cause[cell]] ?? 'other';
        g.globalAlpha = lit === null ? 0.22 + 0.78 * level : lit === cause ? 1 : kUnlit;
        g.fillStyle = theme.get(`m-${cause}`);
      } else {
        g.fillStyle = theme.heatColour(level);
      }
      g.fillRect(x, y, w, rowHeight);
      g.globalAlpha = 1;
    }
  }
}

// Where few samples may mean that they were lost, not that nothing ran.
function drawLost(g: CanvasRenderingContext2D, { axis, rows, rowHeight, theme }: HeatPicture, marker: Marker): void {
  const height = rows * rowHeight;
  const from = (marker.time - axis.fromNs) / axis.columnNs;
  const to = (marker.time + marker.duration - axis.fromNs) / axis.columnNs;
  for (let column = Math.max(0, Math.floor(from)); column < axis.columns && column <= to; column++) {
    const x = axis.columnX(column);
    const top = Math.max(0, from - column) * height;
    const bottom = Math.max(top + rowHeight, Math.min(1, to - column) * height);
    hatch(g, x, kHeatTop + top, axis.columnX(column + 1) - x, Math.min(bottom, height) - top, theme.get('ink2'));
  }
}

function drawScales(g: CanvasRenderingContext2D, { axis, rows, rowHeight, title, subtitle, theme }: HeatPicture): void {
  const height = rows * rowHeight;
  g.font = `11px ${theme.get('sans')}`;
  g.fillStyle = theme.get('ink3');
  g.textAlign = 'right';
  const unit = axis.columnNs >= 60e9 ? { ns: 1e9, name: 's' } : { ns: 1e6, name: 'ms' };
  for (let part = 0; part < 5; part++) {
    const value = ((axis.columnNs / 5) * part) / unit.ns;
    g.fillText(part === 0 ? `0 ${unit.name}` : String(Math.round(value * 10) / 10), kGutter - 8, kHeatTop + (height / 5) * part + 5);
  }
  g.textAlign = 'left';
  const step = axis.labelStep(axis.toNs >= 3600e9 ? 52 : 40);
  const digits = 0;
  for (let column = 0; column < axis.columns; column += step) {
    const x = axis.columnX(column);
    g.fillStyle = theme.get('line2');
    g.fillRect(x, kHeatTop + height + 2, 1, 4);
    g.fillStyle = theme.get('ink3');
    if (x + 36 < axis.width) g.fillText(clock(axis.fromNs + column * axis.columnNs, digits), x, kHeatTop + height + 14);
  }
  g.font = `600 12px ${theme.get('sans')}`;
  g.fillStyle = theme.get('ink');
  g.fillText(title, 16, kHeatTop + 6, kGutter - 56);
  g.font = `11px ${theme.get('sans')}`;
  g.fillStyle = theme.get('ink3');
  if (subtitle) g.fillText(subtitle, 16, kHeatTop + 22, kGutter - 56);
}

// A selection flows like text: down the column, on to the next.
export function selectionPath(axis: TimeAxis, rows: number, rowHeight: number, range: Range): Path2D {
  const path = new Path2D();
  const rowNs = axis.columnNs / rows;
  const first = Math.max(0, Math.floor((range[0] - axis.fromNs) / rowNs));
  const last = Math.min(axis.columns * rows, Math.ceil((range[1] - axis.fromNs) / rowNs - 1e-6)) - 1;
  if (last < first) return path;
  const [c0, r0] = [Math.floor(first / rows), first % rows];
  const [c1, r1] = [Math.floor(last / rows), (last % rows) + 1];
  const left = (column: number) => axis.columnX(column);
  const right = (column: number) => axis.columnX(column + 1) - 1;
  const y = (row: number) => kHeatTop + row * rowHeight;
  if (c0 === c1) {
    path.rect(left(c0), y(r0), right(c0) - left(c0), y(r1) - y(r0));
  } else if (c1 === c0 + 1 && r1 <= r0) {
    path.rect(left(c0), y(r0), right(c0) - left(c0), y(rows) - y(r0));
    path.rect(left(c1), y(0), right(c1) - left(c1), y(r1) - y(0));
  } else {
    path.moveTo(left(c0), y(r0));
    path.lineTo(left(c0 + 1), y(r0));
    path.lineTo(left(c0 + 1), y(0));
    path.lineTo(right(c1), y(0));
    path.lineTo(right(c1), y(r1));
    path.lineTo(left(c1), y(r1));
    path.lineTo(left(c1), y(rows));
    path.lineTo(left(c0), y(rows));
    path.closePath();
  }
  return path;
}

function drawSelection(g: CanvasRenderingContext2D, { axis, rows, rowHeight, range, base, theme }: HeatPicture): void {
  const paths = [range, base].map((r) => (r ? selectionPath(axis, rows, rowHeight, r) : null));
  const outside = new Path2D();
  outside.rect(kGutter, 0, axis.width - kGutter, kHeatTop + rows * rowHeight + 1);
  for (const path of paths) if (path) outside.addPath(path);
  g.fillStyle = theme.get('veil');
  g.fill(outside, 'evenodd');
  g.lineJoin = 'round';
  paths.forEach((path, i) => {
    if (!path) return;
    g.strokeStyle = theme.get('panel');
    g.lineWidth = 4;
    g.stroke(path);
    g.strokeStyle = theme.get(i === 0 ? 'sel' : 'accent');
    g.lineWidth = 1.5;
    g.setLineDash(i === 0 ? [] : [4, 3]);
    g.stroke(path);
    g.setLineDash([]);
  });
}
