// Paints a call tree: a flame graph, a flame chart, or one half of a sandwich.

import { plain, shortPlace } from '../app/format';
import type { Palette } from '../app/state';
import { FrameKind, Origin, Tier, type Labels, type Tree } from '../wire/views';
import { hatch } from './canvas';
import { type FlameLayout, kRowHeight } from './flame_layout';
import { kindName, type Theme } from './palette';

const kLeastWidth = 0.4;
const kLeastRounded = 6;
const kLeastTextWidth = 24;
const kMaxDrawnName = 300;
const kLeastHatched = 0.05; // of a change

export interface FlameLook {
  theme: Theme;
  palette: Palette;
  root: string; // of the application's files, left out of places
  rootName: string;
  rootPlace: string;
  charWidth: number;
}

export interface FlamePart {
  layout: FlameLayout;
  labels: Labels;
  zoom: number;
  x: number;
  width: number;
  rowY: (depth: number) => number; // in the canvas; rows outside of it are not drawn
  firstRow: number;
  lastRow: number;
  hovered: number | null;
  focused: number | null;
  dimUnmatched: boolean;
  lit: string | null; // the kind of boxes that are not dimmed
}

// Text of boxes, made once for each label.
const shown = new WeakMap<Labels, { names: string[]; places: string[] }>();

function wordsOf(labels: Labels, label: number, root: string): { name: string; place: string } {
  let cache = shown.get(labels);
  if (!cache) shown.set(labels, (cache = { names: [], places: [] }));
  if (cache.names[label] === undefined) {
    cache.names[label] = plain(labels.names[label], kMaxDrawnName) || '[unknown]';
    cache.places[label] = plain(shortPlace(labels.places[label], root), kMaxDrawnName);
  }
  return { name: cache.names[label], place: cache.places[label] };
}

function change(tree: Tree, node: number): number {
  const before = tree.beforeTotal![node];
  const after = tree.afterTotal![node];
  const most = Math.max(before, after);
  return most > 0 ? (after - before) / most : 0;
}

interface Word {
  text: string;
  x: number;
  y: number;
  alpha: number;
  most?: number; // in pixels, where letters may be wider than those that were counted
}

function mostOf(text: string, room: number): number | undefined {
  return /[^\x20-\x7e…]/.test(text) ? room : undefined;
}

export class FlamePainter {
  // Written after all boxes are drawn, style by style: to change the font for each word costs more than the word.
  private readonly strong: Word[] = [];
  private readonly normal: Word[] = [];
  private readonly faint: Word[] = [];

  constructor(
    private readonly g: CanvasRenderingContext2D,
    private readonly look: FlameLook,
  ) {}

  draw(part: FlamePart): void {
    const { tree } = part.layout;
    for (let depth = part.firstRow; depth <= Math.min(part.lastRow, tree.depth); depth++) {
      const y = part.rowY(depth);
      part.layout.visitRow(depth, part.zoom, part.width, kLeastWidth, (node, x, w) => this.box(part, node, part.x + x, y, w));
    }
    this.write();
    if (part.focused !== null) this.outline(part, part.focused, 2, this.look.theme.get('accent'));
    if (part.hovered !== null) this.outline(part, part.hovered, 1.5, this.look.theme.get('sel'));
    this.g.globalAlpha = 1;
  }

  private write(): void {
    const { g } = this;
    const { theme } = this.look;
    g.textAlign = 'left';
    const styles: [Word[], string, string][] = [
      [this.strong, `600 11px ${theme.get('mono')}`, theme.get('k-ink')],
      [this.normal, `11px ${theme.get('mono')}`, theme.get('k-ink')],
      [this.faint, `11px ${theme.get('mono')}`, theme.get('k-ink2')],
    ];
    for (const [words, font, colour] of styles) {
      g.font = font;
      g.fillStyle = colour;
      for (const { text, x, y, alpha, most } of words) {
        g.globalAlpha = alpha;
        g.fillText(text, x, y, most);
      }
    }
  }

  private box(part: FlamePart, node: number, x: number, y: number, w: number): void {
    const { g } = this;
    const { tree } = part.layout;
    const { labels } = part;
    const label = tree.label[node];
    const above = tree.nodeDepth[node] < tree.nodeDepth[part.zoom];
    const unmatched = part.dimUnmatched && node !== 0 && !labels.matched?.[label];
    const unlit = part.lit !== null && node !== 0 && kindName(labels, label) !== part.lit;
    g.globalAlpha = unmatched || unlit ? 0.28 : above ? 0.55 : 1;
    g.fillStyle = this.fill(part, node);
    const width = Math.max(0.6, w - 1);
    const height = kRowHeight - 1;
    if (w <= kLeastRounded) {
      g.fillRect(x, y, width, height);
      if (w < 3) return;
    } else {
      g.beginPath();
      g.roundRect(x, y, width, height, 2);
      g.fill();
    }
    this.marks(part, node, x, y, width, height);
    if (w >= kLeastTextWidth) this.text(part, node, x, y, w, height);
  }

  private fill(part: FlamePart, node: number): string {
    const { theme, palette } = this.look;
    const { tree } = part.layout;
    const { labels } = part;
    const label = tree.label[node];
    if (node === 0 && label === 0) return theme.get('k-loop');
    if (tree.beforeTotal) return theme.changeFill(change(tree, node));
    if (palette === 'name') return theme.nameFill(labels.names[label]);
    if (palette === 'package') return theme.groupFill(groupOf(labels, label));
    return theme.kindFill(kindName(labels, label), tree.tier[node]);
  }

  // What colour alone would say: hatched is interpreted, unresolved or less than before, dotted is inlined.
  private marks(part: FlamePart, node: number, x: number, y: number, w: number, h: number): void {
    const { g } = this;
    const { theme, palette } = this.look;
    const { tree } = part.layout;
    const kind = kindName(part.labels, tree.label[node]);
    if (palette === 'kind' && !tree.beforeTotal) {
      if (kind === 'unknown') hatch(g, x, y, w, h, theme.get('line2'));
      else if (tree.tier[node] === Tier.interpreted && (kind === 'app' || kind === 'node')) hatch(g, x, y, w, h, theme.get(`k-${kind}`));
    }
    if (tree.beforeTotal && change(tree, node) < -kLeastHatched) hatch(g, x, y, w, h, theme.get('d-hatch'));
    if (tree.inlined[node] && w > 8) {
      g.fillStyle = theme.get('k-ink2');
      for (let at = y + 3; at < y + h - 2; at += 4) g.fillRect(x + 2, at, 1.5, 2);
    }
  }

  private text(part: FlamePart, node: number, x: number, y: number, w: number, h: number): void {
    const { charWidth } = this.look;
    const alpha = this.g.globalAlpha;
    const { tree } = part.layout;
    const label = tree.label[node];
    const isRoot = node === 0 && label === 0;
    const words = isRoot ? { name: this.look.rootName, place: this.look.rootPlace } : wordsOf(part.labels, label, this.look.root);
    let { name } = words;
    let place = words.place;
    if (tree.beforeTotal && !isRoot) place = `${changeWords(tree, node)}  ${place}`;
    const pad = tree.inlined[node] ? 8 : 6;
    const room = Math.floor((w - pad - 5) / charWidth);
    if (room < 2) return;
    if (name.length > room && name.includes('::')) name = name.slice(name.lastIndexOf('::') + 2);
    const cut = name.length > room;
    if (cut) name = `${name.slice(0, Math.max(1, room - 1))}…`;
    const own = part.labels.origin[label] === Origin.own && part.labels.kind[label] === FrameKind.js;
    (own ? this.strong : this.normal).push({ text: name, x: x + pad, y: y + h / 2 + 1, alpha, most: mostOf(name, w - pad - 2) });
    const left = room - name.length - 2;
    if (cut || place === '' || left < Math.min(place.length, 8)) return;
    const shownPlace = place.length > left ? `${place.slice(0, left - 1)}…` : place;
    const indent = pad + (name.length + 2) * charWidth;
    this.faint.push({ text: shownPlace, x: x + indent, y: y + h / 2 + 1, alpha, most: mostOf(shownPlace, w - indent) });
  }

  private outline(part: FlamePart, node: number, thickness: number, colour: string): void {
    const { g } = this;
    const { tree } = part.layout;
    const depth = tree.nodeDepth[node];
    if (depth < part.firstRow || depth > part.lastRow) return;
    const place = boxOf(part, node);
    if (!place) return;
    g.globalAlpha = 1;
    g.strokeStyle = colour;
    g.lineWidth = thickness;
    g.strokeRect(place.x + 0.75, part.rowY(depth) + 0.75, Math.max(1, place.w - 2.5), kRowHeight - 2.5);
  }
}

export function boxOf(part: FlamePart, node: number): { x: number; w: number } | null {
  const { tree } = part.layout;
  if (tree.nodeDepth[node] <= tree.nodeDepth[part.zoom]) return { x: part.x, w: part.width };
  const scale = part.width / tree.width[part.zoom];
  const x = (tree.start[node] - tree.start[part.zoom]) * scale;
  if (x < 0 || x > part.width) return null;
  return { x: part.x + x, w: tree.width[node] * scale };
}

// Shares of each side: the sides have different sums.
export function changeWords(tree: Tree, node: number): string {
  const before = tree.beforeTotal![node];
  const after = tree.afterTotal![node];
  if (before === 0 && after > 0) return 'new';
  if (after === 0 && before > 0) return 'gone';
  const points = ((after - before) / Math.max(1, tree.afterTotal![0])) * 100;
  return `${points >= 0 ? '+' : '−'}${Math.abs(points).toFixed(1)}`;
}

function groupOf(labels: Labels, label: number): string {
  const place = labels.places[label];
  const modules = place.lastIndexOf('node_modules/');
  if (modules < 0) return place.replace(/:\d+(:\d+)?$/, '') || String(labels.kind[label]);
  const parts = place.slice(modules + 'node_modules/'.length).split('/');
  return parts[0].startsWith('@') ? `${parts[0]}/${parts[1]}` : parts[0];
}
