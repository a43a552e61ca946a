// What each part of the page asks; src/page/heap/report.cpp asks the same for a page without a server.

import type { HeapAsk } from './engine';
import type { HeapStore } from './store';

export const kClassesQuery: HeapAsk<'classes'> = { view: 'classes' };
export const kAllDominatorsQuery: HeapAsk<'dominators'> = { view: 'dominators' };

export function dominatorsQuery(store: HeapStore): HeapAsk<'dominators'> {
  const { zoom } = store.state;
  return zoom && store.engine.isWhole ? { view: 'dominators', id: zoom } : kAllDominatorsQuery;
}

// Until someone chooses, the class that the answer is about.
export function chosenClass(store: HeapStore, first: number | undefined): number {
  return store.state.heapClass >= 0 ? store.state.heapClass : (store.about.heap_class ?? first ?? -1);
}

export function holderQuery(heapClass: number): HeapAsk<'holder'> | null {
  return heapClass < 0 ? null : { view: 'holder', class: String(heapClass) };
}

export function objectsQuery(store: HeapStore, heapClass: number): HeapAsk<'objects'> | null {
  return heapClass < 0 ? null : { view: 'objects', class: String(heapClass), new: store.isComparison };
}

export function objectQuery(store: HeapStore): HeapAsk<'object'> | null {
  const id = store.state.object || store.about.object;
  return id === undefined ? null : { view: 'object', id };
}
