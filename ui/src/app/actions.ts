// What a user can do, whichever key, click or menu asks for it.

import { Origin, type Stall, type Table } from '../wire/views';
import { clock, duration, parsePlace } from './format';
import type { Baseline, Grouping, Range } from './state';
import type { Store } from './store';

export function select(store: Store, range: Range | null, step = true): void {
  store.update({ range, zoom: 0 }, step);
  if (step) store.announce(range ? `Selected ${clock(range[0], 2)} to ${clock(range[1], 2)}, ${duration(range[1] - range[0])}` : 'Whole recording');
}

// The list begins with what got slower, and goes back to what it was when the comparison ends.
export function compareWith(store: Store, base: Baseline | null, step = true): void {
  const { state } = store;
  const begins = base !== null && state.base === null;
  const ends = base === null && state.base !== null;
  store.update(
    {
      base,
      zoom: 0,
      view: state.view === 'chart' ? 'flame' : state.view,
      ...(begins ? { sort: 'total', sortReversed: false } : ends ? { sort: 'self', sortReversed: false } : {}),
    },
    step,
  );
}

// What was compared becomes the baseline.
export function swapSides(store: Store): void {
  const { file, range, threads, base } = store.state;
  if (!base) return;
  store.update({ file: base.file, range: base.range, threads: base.threads, base: { file, range, threads }, window: base.file === file ? store.state.window : null, zoom: 0 });
}

export function selectStall(store: Store, stall: Stall): void {
  store.update({ range: [stall.from_ns, stall.to_ns], threads: [stall.thread], zoom: 0 });
  store.announce(`Stall of ${duration(stall.to_ns - stall.from_ns)}: ${stall.name} ${stall.place}`);
}

// The next stall in time after the selection, or the one before.
export function stepStall(store: Store, stalls: readonly Stall[], step: 1 | -1): void {
  const sorted = [...stalls].sort((a, b) => a.from_ns - b.from_ns);
  const at = store.state.range ? store.state.range[0] : step > 0 ? -1 : Infinity;
  const next = step > 0 ? sorted.find((s) => s.from_ns > at) : sorted.reverse().find((s) => s.from_ns < at);
  if (next) selectStall(store, next);
}

// Undoes one step, from the inside out.
export function stepOut(store: Store): void {
  const { state } = store;
  if (state.zoom) store.update({ zoom: 0 });
  else if (state.base) compareWith(store, null);
  else if (state.range) select(store, null);
  else if (state.threads.length > 0) store.update({ threads: [], zoom: 0 });
  else if (state.include.length + state.exclude.length > 0) store.update({ include: [], exclude: [], zoom: 0 });
  else if (state.search) store.update({ search: '' });
  else if (state.window) store.update({ window: null });
}

// The whole text, as a regular expression that matches nothing else.
export function exactly(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

export function labelPattern(name: string, place: string): string {
  // Labels of JavaScript have their place behind the name; those of native code have not.
  return parsePlace(place) ? `^${exactly(`${name} ${place}`)}$` : `^${exactly(name)}$`;
}

export function showFunction(store: Store, name: string, place: string): void {
  store.update({ fn: { name, place }, view: 'sandwich', zoom: 0 });
}

// What a row of a table other than that of functions leads to: its threads, its lines or its functions.
export function actionOfGroup(store: Store, group: Grouping, table: Table, row: number): (() => void) | undefined {
  const name = table.names[row];
  const origin: Origin = table.origin[row];
  if (table.row_of_thread) {
    const threads = [...table.row_of_thread.keys()].filter((thread) => table.row_of_thread![thread] === row);
    return threads.length > 0 ? () => store.update({ threads, zoom: 0 }) : undefined;
  }
  if (group === 'file' && (origin === Origin.own || origin === Origin.package)) return () => showSource(store, `${name}:1`);
  if (group === 'package' && origin === Origin.package) {
    return () => store.update({ group: 'function', filter: exactly(`node_modules/${name}/`) });
  }
  return undefined;
}

export function showSource(store: Store, place: string): void {
  const position = parsePlace(place);
  if (position) store.update({ source: place, view: 'source' });
}

export function editorAddress(place: string): string | null {
  const position = parsePlace(place);
  if (!position) return null;
  const file = position.file.replace(/^file:\/\//, '');
  return file.startsWith('/') ? `vscode://file${encodeURI(file)}:${position.line}:${position.column || 1}` : null;
}

export async function copy(store: Store, text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages from disk may not write to the clipboard; the older way still works there.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  store.announce(`${what} copied`);
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
