// All that a link to a view of a heap holds.

export type Panel = 'holder' | 'objects' | 'object';
export type HeapSort = 'name' | 'before' | 'count' | 'added' | 'shallow' | 'retained';

export interface HeapState {
  heapClass: number; // -1: none is chosen
  object: number; // its id; 0: none
  panel: Panel;
  zoom: number; // the object whose dominators fill the width; 0: all
  filter: string;
  sort: HeapSort;
  sortReversed: boolean;
}

export const kInitialHeap: HeapState = {
  heapClass: -1,
  object: 0,
  panel: 'holder',
  zoom: 0,
  filter: '',
  sort: 'retained',
  sortReversed: false,
};

const kPanels: readonly Panel[] = ['holder', 'objects', 'object'];
const kSorts: readonly HeapSort[] = ['name', 'before', 'count', 'added', 'shallow', 'retained'];

export function encodeHeapState(state: HeapState): string {
  const out = new URLSearchParams();
  if (state.heapClass >= 0) out.set('class', String(state.heapClass));
  if (state.object) out.set('object', String(state.object));
  if (state.panel !== kInitialHeap.panel) out.set('panel', state.panel);
  if (state.zoom) out.set('zoom', String(state.zoom));
  if (state.filter) out.set('q', state.filter);
  if (state.sort !== kInitialHeap.sort) out.set('sort', state.sort);
  if (state.sortReversed) out.set('reversed', '1');
  return out.toString();
}

function number(text: string | null, otherwise: number): number {
  const value = /^\d{1,16}$/.test(text ?? '') ? Number(text) : otherwise;
  return Number.isSafeInteger(value) ? value : otherwise;
}

// Whatever an address says becomes a state; what makes no sense in it is left out.
export function decodeHeapState(hash: string): HeapState {
  const from = new URLSearchParams(hash.replace(/^#/, ''));
  return {
    heapClass: number(from.get('class'), -1),
    object: number(from.get('object'), 0),
    panel: kPanels.find((panel) => panel === from.get('panel')) ?? kInitialHeap.panel,
    zoom: number(from.get('zoom'), 0),
    filter: from.get('q') ?? '',
    sort: kSorts.find((sort) => sort === from.get('sort')) ?? kInitialHeap.sort,
    sortReversed: from.get('reversed') === '1',
  };
}
