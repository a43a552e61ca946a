// The keyboard: one table, from which the help is made too.

import { toggleTheme } from '../app/theme';
import type { Panel } from './state';
import type { HeapStore } from './store';

interface Context {
  store: HeapStore;
  filter: HTMLInputElement;
  help: () => void;
}

interface Binding {
  keys: string[];
  words: string;
  run: (context: Context, event: KeyboardEvent) => void;
}

const kPanels: Panel[] = ['holder', 'objects', 'object'];

export const kHeapKeys: Binding[] = [
  { keys: ['/'], words: 'Filter classes and holders', run: ({ filter }) => filter.focus() },
  {
    keys: ['1', '2', '3'],
    words: 'What holds them, objects of the class, one object',
    run: ({ store }, event) => store.update({ panel: kPanels[Number(event.key) - 1] }),
  },
  { keys: ['Escape'], words: 'Undo one step: object, zoom, filter, class', run: ({ store }) => store.stepOut() },
  { keys: ['t'], words: 'Light or dark', run: toggleTheme },
  { keys: ['?'], words: 'This help', run: ({ help }) => help() },
];

export const kHeapMouse: [string, string][] = [
  ['Class: click', 'What holds its objects, and the objects themselves'],
  ['Step of a path, object, property: click', 'That object, with what it refers to and what refers to it'],
  ['Dominators: click', 'That object; where a box is several, their class'],
  ['Dominators: double click, or Enter', 'This object fills the width; Esc zooms out'],
  ['List or dominators with focus: arrows', 'Go through it; Tab leaves it'],
];

function takesText(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

export function runHeapKey(event: KeyboardEvent, context: Context): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || takesText(event.target)) return;
  const binding = kHeapKeys.find(({ keys }) => keys.includes(event.key));
  if (!binding) return;
  event.preventDefault();
  binding.run(context, event);
}
