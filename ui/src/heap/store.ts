// The one state of the page of a heap, kept in the address.

import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { encodeQuery } from '../wire/engine';
import type { HeapAbout, HeapReplies } from '../wire/generated';
import type { Loaded } from '../app/queries';
import type { HeapAsk, HeapEngine, HeapViewName } from './engine';
import { decodeHeapState, encodeHeapState, type HeapState } from './state';

export class HeapStore {
  state: HeapState;
  announcement = ''; // for people who do not see the page
  private readonly listeners = new Set<() => void>();

  constructor(
    readonly engine: HeapEngine,
    readonly about: HeapAbout,
  ) {
    this.state = decodeHeapState(location.hash);
    window.addEventListener('popstate', () => this.fromAddress());
    window.addEventListener('hashchange', () => this.fromAddress());
  }

  get isComparison(): boolean {
    return this.about.snapshots.length > 1;
  }

  // `step`: the change is one that "back" undoes.
  update(change: Partial<HeapState>, step = true): void {
    const before = encodeHeapState(this.state);
    this.state = { ...this.state, ...change };
    const after = encodeHeapState(this.state);
    if (after !== before) {
      const address = `#${after}`;
      if (step) history.pushState(null, '', address);
      else history.replaceState(null, '', address);
    }
    this.notify();
  }

  chooseClass(heapClass: number): void {
    this.update({ heapClass, object: 0, panel: this.state.panel === 'object' ? 'holder' : this.state.panel });
  }

  chooseObject(object: number): void {
    this.update({ object, panel: 'object' });
  }

  // Undoes what was chosen last.
  stepOut(): void {
    if (this.state.object) this.update({ object: 0, panel: 'holder' });
    else if (this.state.zoom) this.update({ zoom: 0 });
    else if (this.state.filter) this.update({ filter: '' });
    else this.update({ heapClass: -1 });
  }

  announce(text: string): void {
    this.announcement = text;
    this.notify();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  private fromAddress(): void {
    const next = decodeHeapState(location.hash);
    if (encodeHeapState(next) === encodeHeapState(this.state)) return;
    this.state = next;
    this.notify();
  }
}

export const HeapStoreContext = createContext<HeapStore>(null as unknown as HeapStore);

export function useHeapStore(): HeapStore {
  const store = useContext(HeapStoreContext);
  const [, redraw] = useState(0);
  useEffect(() => store.subscribe(() => redraw((n) => n + 1)), [store]);
  return store;
}

// The last answer stays until the next one is there.
export function useHeap<V extends HeapViewName>(query: HeapAsk<V> | null): Loaded<HeapReplies[V]> {
  const { engine } = useContext(HeapStoreContext);
  const [result, setResult] = useState<Loaded<HeapReplies[V]>>({ data: null, loading: true, error: '' });
  const key = query ? encodeQuery(query) : '';
  useEffect(() => {
    if (!query) {
      setResult({ data: null, loading: false, error: '' });
      return;
    }
    let isWanted = true;
    setResult((last) => ({ ...last, loading: true }));
    engine.ask(query).then(
      (data) => isWanted && setResult({ data, loading: false, error: '' }),
      (error: Error) => isWanted && setResult({ data: null, loading: false, error: error.message }),
    );
    return () => void (isWanted = false);
  }, [key]);
  return result;
}
