// The keyboard: one table, from which the help is made too.

import type { Stall } from '../wire/views';
import { compareWith, select, stepOut, stepStall } from './actions';
import type { Range } from './state';
import type { Store } from './store';

export interface KeyContext {
  store: Store;
  stalls: readonly Stall[];
  search: HTMLInputElement;
  show: (dialog: 'help' | 'about') => void;
  toggleTheme: () => void;
}

export interface KeyBinding {
  keys: string[];
  words: string;
  run: (context: KeyContext, event: KeyboardEvent) => void;
}

// One cell or one column further, kept inside of the recording; with `grow` only the end moves.
export function movedRange(range: Range, by: number, grow: boolean, end: number): Range {
  if (grow) return [range[0], Math.max(range[0] + 1, Math.min(end, range[1] + by))];
  const length = range[1] - range[0];
  const from = Math.max(0, Math.min(end - length, range[0] + by));
  return [from, from + length];
}

function move({ store }: KeyContext, event: KeyboardEvent, cells: number, columns: number): void {
  const cell = store.state.cellMs * 1e6;
  const end = store.about.duration_ns;
  const range = store.state.range ?? ([0, Math.min(cell, end)] as const);
  select(store, movedRange(range, cells * cell + columns * 1e9, event.shiftKey, end));
}

function takeAsBaseline(store: Store): void {
  const { file, range, threads } = store.state;
  compareWith(store, { file, range, threads });
  store.announce('This is the baseline now. Select what to compare with it.');
}

const kViews = ['flame', 'chart', 'sandwich', 'source'] as const;

export const kKeys: KeyBinding[] = [
  { keys: ['/'], words: 'Search functions and files', run: ({ search }) => search.focus() },
  { keys: [']'], words: 'Next stall', run: ({ store, stalls }) => stepStall(store, stalls, 1) },
  { keys: ['['], words: 'Stall before', run: ({ store, stalls }) => stepStall(store, stalls, -1) },
  { keys: ['ArrowDown'], words: 'Selection one cell later; with Shift only its end', run: (c, e) => move(c, e, 1, 0) },
  { keys: ['ArrowUp'], words: 'Selection one cell earlier', run: (c, e) => move(c, e, -1, 0) },
  { keys: ['ArrowRight'], words: 'Selection one second later', run: (c, e) => move(c, e, 0, 1) },
  { keys: ['ArrowLeft'], words: 'Selection one second earlier', run: (c, e) => move(c, e, 0, -1) },
  { keys: ['b'], words: 'Take what is selected as the baseline, then select what to compare with it', run: ({ store }) => takeAsBaseline(store) },
  { keys: ['Escape'], words: 'Undo one step: zoom, comparison, selection, thread', run: ({ store }) => stepOut(store) },
  { keys: ['c'], words: 'Heat map by samples or by cause', run: ({ store }) => store.update({ mode: store.state.mode === 'cause' ? 'samples' : 'cause' }) },
  { keys: ['+', '='], words: 'Time axis: zoom in', run: ({ store }) => zoomWindow(store, 0.5) },
  { keys: ['-'], words: 'Time axis: zoom out', run: ({ store }) => zoomWindow(store, 2) },
  { keys: ['1', '2', '3', '4'], words: 'Flame graph, flame chart, sandwich, source', run: ({ store }, e) => store.update({ view: kViews[Number(e.key) - 1], zoom: 0 }) },
  { keys: ['m'], words: 'Only my code', run: ({ store }) => store.update({ my: !store.state.my, zoom: 0 }) },
  { keys: ['r'], words: 'Reversed: callers above callees', run: ({ store }) => store.update({ reversed: !store.state.reversed, zoom: 0 }) },
  { keys: ['i'], words: 'Root on top or at the bottom', run: ({ store }) => store.update({ icicle: !store.state.icicle }) },
  { keys: ['l'], words: 'Fold or unfold event loop and call stubs', run: ({ store }) => store.update({ fold: !store.state.fold, zoom: 0 }) },
  { keys: ['p'], words: 'Merge or split threads', run: ({ store }) => store.update({ byThread: !store.state.byThread, zoom: 0 }) },
  { keys: ['a'], words: 'About this recording', run: ({ show }) => show('about') },
  { keys: ['t'], words: 'Light or dark', run: ({ toggleTheme }) => toggleTheme() },
  { keys: ['?'], words: 'This help', run: ({ show }) => show('help') },
];

export function zoomWindow(store: Store, factor: number, around?: number): void {
  const end = store.about.duration_ns;
  const [from, to] = store.state.window ?? [0, end];
  const middle = around ?? (store.state.range ? (store.state.range[0] + store.state.range[1]) / 2 : (from + to) / 2);
  const span = Math.max(5e9, (to - from) * factor);
  if (span >= end) {
    store.update({ window: null }, false);
    return;
  }
  const share = Math.min(1, Math.max(0, (middle - from) / (to - from)));
  const begin = Math.max(0, Math.min(end - span, middle - share * span));
  store.update({ window: [Math.round(begin), Math.round(begin + span)] }, false);
}

function takesText(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

export function runKey(event: KeyboardEvent, context: KeyContext): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || takesText(event.target)) return;
  const binding = kKeys.find(({ keys }) => keys.includes(event.key));
  if (!binding) return;
  event.preventDefault();
  binding.run(context, event);
}
