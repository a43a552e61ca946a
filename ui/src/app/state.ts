// All that a link to a view holds.  Everything else is derived from it and from the recording.

export type Range = readonly [from: number, to: number]; // ns from the first sample

export type HeatMode = 'samples' | 'cause';
export type WhyView = 'flame' | 'chart' | 'sandwich' | 'source';
export type Grouping = 'function' | 'file' | 'package' | 'module' | 'kind' | 'thread' | 'process';
export type SortKey = 'self' | 'total' | 'name';
export type Palette = 'kind' | 'name' | 'package';

export interface Baseline {
  file: number;
  range: Range | null;
  threads: readonly number[];
}

export interface State {
  file: number;
  event: number;
  range: Range | null;
  threads: readonly number[];
  base: Baseline | null;
  include: readonly string[];
  exclude: readonly string[];
  my: boolean;
  fold: boolean;
  awaiters: boolean; // asynchronous callers, where the recording has them
  search: string;
  mode: HeatMode;
  window: Range | null; // what the time axis shows; null: everything
  cellMs: number;
  view: WhyView;
  reversed: boolean;
  icicle: boolean;
  byThread: boolean;
  tiers: boolean;
  recursion: boolean;
  absolute: boolean; // a comparison does not scale the baseline
  vanished: boolean; // a comparison draws what only the baseline has
  palette: Palette;
  zoom: number; // the node that fills the width
  fn: { name: string; place: string } | null;
  source: string;
  group: Grouping;
  sort: SortKey;
  sortReversed: boolean;
  filter: string;
}

export const kInitial: State = {
  file: 0,
  event: 0,
  range: null,
  threads: [],
  base: null,
  include: [],
  exclude: [],
  my: false,
  fold: true,
  awaiters: true,
  search: '',
  mode: 'samples',
  window: null,
  cellMs: 20,
  view: 'flame',
  reversed: false,
  icicle: true,
  byThread: false,
  tiers: false,
  recursion: false,
  absolute: false,
  vanished: false,
  palette: 'kind',
  zoom: 0,
  fn: null,
  source: '',
  group: 'function',
  sort: 'self',
  sortReversed: false,
  filter: '',
};

// Seconds with as many digits as a nanosecond needs, and no more.
function seconds(ns: number): string {
  return String(Math.round(ns) / 1e9);
}

function encodeRange(range: Range): string {
  return `${seconds(range[0])}-${seconds(range[1])}`;
}

function decodeRange(text: string | null): Range | null {
  const match = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? '');
  if (!match) return null;
  const range: Range = [Math.round(Number(match[1]) * 1e9), Math.round(Number(match[2]) * 1e9)];
  return range[1] > range[0] ? range : null;
}

function encodeList(list: readonly number[]): string {
  return list.join('.');
}

function decodeList(text: string | null): number[] {
  return (text ?? '').split('.').filter((part) => /^\d{1,7}$/.test(part)).map(Number);
}

function oneOf<T extends string>(text: string | null, values: readonly T[], otherwise: T): T {
  return values.includes(text as T) ? (text as T) : otherwise;
}

const kFlags = ['my', 'reversed', 'byThread', 'tiers', 'recursion', 'sortReversed', 'absolute', 'vanished'] as const;
const kFlagsOn = ['fold', 'icicle', 'awaiters'] as const;

export function encodeState(state: State): string {
  const out = new URLSearchParams();
  if (state.file) out.set('file', String(state.file));
  if (state.event) out.set('event', String(state.event));
  if (state.range) out.set('sel', encodeRange(state.range));
  if (state.threads.length > 0) out.set('threads', encodeList(state.threads));
  if (state.base) {
    out.set('base', state.base.range ? encodeRange(state.base.range) : 'all');
    if (state.base.file !== state.file) out.set('baseFile', String(state.base.file));
    if (state.base.threads.length > 0) out.set('baseThreads', encodeList(state.base.threads));
  }
  for (const pattern of state.include) out.append('focus', pattern);
  for (const pattern of state.exclude) out.append('hide', pattern);
  for (const flag of kFlags) if (state[flag]) out.set(flag, '1');
  for (const flag of kFlagsOn) if (!state[flag]) out.set(flag, '0');
  if (state.search) out.set('q', state.search);
  if (state.mode !== kInitial.mode) out.set('mode', state.mode);
  if (state.window) out.set('window', encodeRange(state.window));
  if (state.cellMs !== kInitial.cellMs) out.set('cell', String(state.cellMs));
  if (state.view !== kInitial.view) out.set('view', state.view);
  if (state.palette !== kInitial.palette) out.set('palette', state.palette);
  if (state.zoom) out.set('zoom', String(state.zoom));
  if (state.fn) {
    out.set('fn', state.fn.name);
    if (state.fn.place) out.set('at', state.fn.place);
  }
  if (state.source) out.set('source', state.source);
  if (state.group !== kInitial.group) out.set('group', state.group);
  if (state.sort !== kInitial.sort) out.set('sort', state.sort);
  if (state.filter) out.set('filter', state.filter);
  return out.toString();
}

function decodeBase(from: URLSearchParams, file: number): Baseline | null {
  if (!from.has('base')) return null;
  return {
    file: from.has('baseFile') ? decodeNumber(from.get('baseFile')) : file,
    range: decodeRange(from.get('base')),
    threads: decodeList(from.get('baseThreads')),
  };
}

function decodeNumber(text: string | null): number {
  return /^\d{1,9}$/.test(text ?? '') ? Number(text) : 0;
}

// Whatever an address says becomes a state; what makes no sense in it is left out.
export function decodeState(hash: string): State {
  const from = new URLSearchParams(hash.replace(/^#/, ''));
  const file = decodeNumber(from.get('file'));
  const state: State = {
    ...kInitial,
    file,
    event: decodeNumber(from.get('event')),
    range: decodeRange(from.get('sel')),
    threads: decodeList(from.get('threads')),
    base: decodeBase(from, file),
    include: from.getAll('focus'),
    exclude: from.getAll('hide'),
    search: from.get('q') ?? '',
    mode: oneOf(from.get('mode'), ['samples', 'cause'], kInitial.mode),
    window: decodeRange(from.get('window')),
    cellMs: Math.min(1000, Math.max(1, decodeNumber(from.get('cell')) || kInitial.cellMs)),
    view: oneOf(from.get('view'), ['flame', 'chart', 'sandwich', 'source'], kInitial.view),
    palette: oneOf(from.get('palette'), ['kind', 'name', 'package'], kInitial.palette),
    zoom: decodeNumber(from.get('zoom')),
    fn: from.has('fn') ? { name: from.get('fn')!, place: from.get('at') ?? '' } : null,
    source: from.get('source') ?? '',
    group: oneOf(from.get('group'), ['function', 'file', 'package', 'module', 'kind', 'thread', 'process'], kInitial.group),
    sort: oneOf(from.get('sort'), ['self', 'total', 'name'], kInitial.sort),
    filter: from.get('filter') ?? '',
  };
  for (const flag of kFlags) state[flag] = from.get(flag) === '1';
  for (const flag of kFlagsOn) state[flag] = from.get(flag) !== '0';
  return state;
}
