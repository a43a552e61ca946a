// Colours come from the style sheet, so that light and dark are decided in one place.

import { FrameKind, kCauses, Origin, Tier, type Labels } from '../wire/views';

export type KindName =
  | 'app' | 'node' | 'builtin' | 'native' | 'kernel' | 'gc' | 'compile' | 'regexp' | 'waiting' | 'loop' | 'unknown';

export const kKindWords: Record<KindName, string> = {
  app: 'My JS',
  node: 'Node and library JS',
  builtin: 'V8 builtin',
  native: 'Native',
  kernel: 'Kernel',
  gc: 'GC',
  compile: 'Compile',
  regexp: 'RegExp',
  waiting: 'Waiting',
  loop: 'Event loop',
  unknown: 'Unresolved',
};

export const kTierWords = ['', 'interpreted (Ignition)', 'baseline (Sparkplug)', 'optimised (Maglev)', 'optimised (TurboFan)'];

export const kCauseWords: Record<(typeof kCauses)[number], string> = {
  js: 'JS',
  gc: 'GC',
  compile: 'Compile',
  regexp: 'RegExp',
  native: 'Native',
  kernel: 'Kernel',
  idle: 'Idle',
  other: 'Other',
  waiting: 'Waiting',
};

const kByOrigin: KindName[] = [];
kByOrigin[Origin.own] = 'app';
kByOrigin[Origin.package] = 'node';
kByOrigin[Origin.node] = 'node';
kByOrigin[Origin.builtin] = 'builtin';
kByOrigin[Origin.regexp] = 'regexp';
kByOrigin[Origin.gc] = 'gc';
kByOrigin[Origin.native] = 'native';
kByOrigin[Origin.kernel] = 'kernel';
kByOrigin[Origin.unknown] = 'unknown';

const kCompileCause = kCauses.indexOf('compile');
const kWaitingCause = kCauses.indexOf('waiting');

export function kindName(labels: Labels, label: number): KindName {
  if (label === 0) return 'loop';
  if (labels.cause?.[label] === kCompileCause && labels.kind[label] === FrameKind.native) return 'compile';
  if (labels.cause?.[label] === kWaitingCause) return 'waiting';
  const name = kByOrigin[labels.origin[label]] ?? 'unknown';
  // Folded text knows no kinds: a name is not in doubt because of that.
  if (name === 'unknown' && labels.names[label] && !labels.names[label].startsWith('[')) return 'loop';
  return name;
}

export function kindOfOrigin(origin: number): KindName {
  return kByOrigin[origin] ?? 'unknown';
}

export class Theme {
  private readonly values = new Map<string, string>();
  private readonly style = getComputedStyle(document.documentElement);
  private readonly heat: string[] = [];

  get(token: string): string {
    let value = this.values.get(token);
    if (value === undefined) {
      value = this.style.getPropertyValue(`--${token}`).trim();
      this.values.set(token, value);
    }
    return value;
  }

  get isDark(): boolean {
    return document.documentElement.dataset.theme === 'dark';
  }

  // 0 to 1.
  heatColour(share: number): string {
    if (this.heat.length === 0) this.fillHeat();
    return this.heat[Math.round(Math.max(0, Math.min(1, share)) * 100)];
  }

  kindFill(kind: KindName, tier: number): string {
    if (kind !== 'app' && kind !== 'node') return this.get(`k-${kind}`);
    if (tier === Tier.interpreted) return this.get(`k-${kind}-interp`);
    if (tier === Tier.baseline) return this.get(`k-${kind}-base`);
    if (tier === Tier.maglev) return mix(this.get(`k-${kind}`), this.get(`k-${kind}-base`), 0.5);
    return this.get(`k-${kind}`);
  }

  // FlameGraph's warm colours: the same name has always the same one.
  nameFill(name: string): string {
    const hash = hashOf(name);
    const hue = 8 + (hash % 40);
    return this.isDark ? `hsl(${hue} 62% ${24 + (hash >>> 8) % 8}%)` : `hsl(${hue} 88% ${66 + (hash >>> 8) % 12}%)`;
  }

  groupFill(group: string): string {
    const hash = hashOf(group);
    const hue = (hash % 24) * 15;
    return this.isDark ? `hsl(${hue} 38% 29%)` : `hsl(${hue} 62% 78%)`;
  }

  // Of a comparison: -1 (only before) to 1 (only after).
  changeFill(change: number): string {
    const strength = Math.min(1, Math.abs(change)) ** 0.6;
    return mix(this.get('d-same'), this.get(change > 0 ? 'd-more' : 'd-less'), strength);
  }

  private fillHeat(): void {
    const stops = [0, 1, 2, 3, 4, 5].map((i) => this.get(`h${i}`));
    for (let i = 0; i <= 100; i++) {
      const x = (i / 100) * 5;
      const at = Math.min(4, Math.floor(x));
      this.heat.push(mix(stops[at], stops[at + 1], x - at));
    }
  }
}

function channels(hex: string): number[] {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

const mixed = new Map<string, string>();

export function mix(from: string, to: string, share: number): string {
  const step = Math.round(share * 64);
  const key = `${from}${to}${step}`;
  let colour = mixed.get(key);
  if (colour === undefined) {
    const a = channels(from);
    const b = channels(to);
    colour = `rgb(${a.map((v, i) => Math.round(v + ((b[i] - v) * step) / 64)).join(' ')})`;
    mixed.set(key, colour);
  }
  return colour;
}

export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
