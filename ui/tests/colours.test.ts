import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FlameLayout } from '../src/draw/flame_layout';
import { FlamePainter, type FlamePart } from '../src/draw/flame';
import type { Theme } from '../src/draw/palette';
import type { Labels, Tree } from '../src/wire/views';
import { contrast, difference, fromHex, labDifference, lightness, seen, type Vision } from './vision';

const style = readFileSync(new URL('../src/style.css', import.meta.url), 'utf8');

function tokensOf(selector: string): Record<string, string> {
  const at = style.indexOf(`${selector} {`);
  const block = style.slice(at, style.indexOf('}', at));
  return Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map((match) => [match[1], match[2]]));
}

const kLight = tokensOf(':root');
const kThemes: [string, Record<string, string>][] = [['light', kLight], ['dark', { ...kLight, ...tokensOf(':root[data-theme=dark]') }]];
const kTwoCones: Vision[] = ['normal', 'protanopia', 'deuteranopia', 'tritanopia'];
const kEverybody: Vision[] = [...kTwoCones, 'achromatopsia'];

function closest(theme: Record<string, string>, tokens: string[], visions: Vision[]): [number, string] {
  let least: [number, string] = [Infinity, ''];
  for (const vision of visions) {
    tokens.forEach((one, i) =>
      tokens.slice(i + 1).forEach((other) => {
        const far = difference(seen(fromHex(theme[one]), vision), seen(fromHex(theme[other]), vision));
        if (far < least[0]) least = [far, `${one} and ${other} with ${vision}`];
      }),
    );
  }
  return least;
}

describe('the measure of colours', () => {
  it('is CIEDE2000', () => {
    // Sharma, Wu, Dalal 2005, table 1: pairs 1, 7, 17, 25.
    expect(labDifference([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 3);
    expect(labDifference([50, 0, 0], [50, -1, 2])).toBeCloseTo(2.3669, 3);
    expect(labDifference([50, 2.5, 0], [73, 25, -18])).toBeCloseTo(27.1492, 3);
    expect(labDifference([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387])).toBeCloseTo(1.2644, 3);
  });
});

describe.each(kThemes)('colours of the %s page, as seen by everybody', (_, theme) => {
  // Unresolved is hatched; library code and the event loop stand back on purpose, and the loop's boxes are named.
  it('tell kinds of code apart', () => {
    const [far, who] = closest(theme, ['k-app', 'k-builtin', 'k-native', 'k-kernel', 'k-gc', 'k-compile', 'k-regexp', 'k-waiting', 'k-node'], kTwoCones);
    expect(far, who).toBeGreaterThan(8.5);
  });

  it('tell causes apart', () => {
    const [far, who] = closest(theme, ['m-js', 'm-gc', 'm-compile', 'm-regexp', 'm-native', 'm-kernel', 'm-other', 'm-idle', 'm-waiting'], kTwoCones);
    expect(far, who).toBeGreaterThan(10);
  });

  it('tell tiers by lightness', () => {
    const [far, who] = closest(theme, ['k-app', 'k-app-base', 'k-app-interp'], kEverybody);
    expect(far, who).toBeGreaterThan(5);
  });

  it('get steadily darker or brighter along the heat map', () => {
    const steps = ['h0', 'h1', 'h2', 'h3', 'h4', 'h5'].map((token) => theme[token]);
    for (const vision of kEverybody) {
      const levels = steps.map((step) => lightness(seen(fromHex(step), vision)));
      const sign = Math.sign(levels[5] - levels[0]);
      levels.slice(1).forEach((level, i) => expect((level - levels[i]) * sign, `h${i} to h${i + 1} with ${vision}: ${levels}`).toBeGreaterThan(3));
    }
  });

  it('tell more from less, also by lightness', () => {
    const [far, who] = closest(theme, ['d-more', 'd-less', 'd-same'], kTwoCones);
    expect(far, who).toBeGreaterThan(15);
    const [more, less] = [theme['d-more'], theme['d-less']].map((hex) => lightness(fromHex(hex)));
    expect(Math.abs(more - less)).toBeGreaterThan(10);
  });

  it('leave words readable', () => {
    const boxes = Object.keys(theme).filter((token) => /^k-(?!ink)|^d-/.test(token));
    for (const box of boxes) expect(contrast(fromHex(theme[box]), fromHex(theme['k-ink'])), box).toBeGreaterThan(4.5);
    for (const ink of ['ink', 'ink2', 'ink3', 'accent', 'stall', 'warn']) {
      expect(contrast(fromHex(theme[ink]), fromHex(theme.panel)), ink).toBeGreaterThan(4.5);
    }
  });
});

// A canvas that only remembers what was asked of it.
function fakeCanvas() {
  const calls: string[] = [];
  const alphas: number[] = [];
  const g = new Proxy({} as Record<string, unknown>, {
    get: (target, key: string) => (key in target ? target[key] : (...args: unknown[]) => (calls.push(`${key} ${args.join(' ')}`), { width: 7 })),
    set: (target, key: string, value) => ((target[key] = value), key === 'globalAlpha' && alphas.push(value), true),
  });
  return { g: g as unknown as CanvasRenderingContext2D, calls, alphas };
}

const kTheme = { get: (token: string) => token, changeFill: () => 'change', kindFill: (kind: string) => kind } as unknown as Theme;

// The root and two functions of the application side by side, of half the time each.
function drawn(tree: Partial<Tree>, lit: string | null, origin = [0, 0, 0]) {
  const layout = new FlameLayout({
    parent: Uint32Array.of(0, 0, 0), label: Uint32Array.of(0, 1, 2), nodeSelf: Float64Array.of(0, 5, 5), nodeTotal: Float64Array.of(10, 5, 5),
    nodeDepth: Uint32Array.of(0, 1, 1), start: Float64Array.of(0, 0, 5), width: Float64Array.of(10, 5, 5), tier: Uint8Array.of(0, 0, 0),
    inlined: Uint8Array.of(0, 0, 0), depth: 1, total: 10, ...tree,
  } as unknown as Tree);
  const labels = { names: ['', 'one', 'other'], places: ['', '', ''], kind: [0, 1, 1], origin, cause: undefined } as unknown as Labels;
  const canvas = fakeCanvas();
  const look = { theme: kTheme, palette: 'kind' as const, root: '', rootName: 'all', rootPlace: '', charWidth: 7 };
  const part: FlamePart = { layout, labels, zoom: 0, x: 0, width: 800, rowY: (row) => row * 19, firstRow: 0, lastRow: 1, hovered: null, focused: null, dimUnmatched: false, lit };
  new FlamePainter(canvas.g, look).draw(part);
  return canvas;
}

describe('what colours say is said without them', () => {
  it('less than before is hatched and has its sign', () => {
    const { calls } = drawn({ beforeTotal: Float64Array.of(10, 2, 8), afterTotal: Float64Array.of(10, 5, 5) } as Partial<Tree>, null);
    const clipped = calls.filter((call) => call.startsWith('rect '));
    expect(clipped).toHaveLength(1);
    expect(Number(clipped[0].split(' ')[1])).toBeGreaterThanOrEqual(400);
    const texts = calls.filter((call) => call.startsWith('fillText')).join('\n');
    expect(texts).toMatch(/\+30\.0/);
    expect(texts).toMatch(/−30\.0/);
  });

  it('pointing at a kind in the legend dims the others', () => {
    const strengths = (lit: string | null) => drawn({}, lit).alphas.slice(0, 3);
    expect(strengths(null)).toEqual([1, 1, 1]);
    expect(strengths('gc')).toEqual([1, 0.28, 0.28]);
  });
});
