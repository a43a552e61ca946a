// The one state of the page, kept in the address.

import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Engine } from '../wire/engine';
import type { About } from '../wire/views';
import { decodeState, encodeState, type State } from './state';

export interface Hint {
  x: number;
  y: number;
  content: preact.ComponentChildren;
}

export interface MenuEntry {
  text: string;
  detail?: string;
  run: () => void;
}

export interface Menu {
  x: number;
  y: number;
  title: string;
  entries: MenuEntry[];
}

type Listener = () => void;

export class Store {
  state: State;
  // For people who do not see the page: what just happened, in words.
  announcement = '';
  private readonly listeners = new Set<Listener>();

  constructor(
    readonly engine: Engine,
    readonly files: readonly About[],
  ) {
    this.state = this.sane(decodeState(location.hash));
    window.addEventListener('popstate', () => this.fromAddress());
    window.addEventListener('hashchange', () => this.fromAddress());
  }

  get about(): About {
    return this.files[this.state.file];
  }

  // `step`: the change is one that "back" undoes.
  update(change: Partial<State>, step = true): void {
    const next = this.sane({ ...this.state, ...change });
    const before = encodeState(this.state);
    const after = encodeState(next);
    this.state = next;
    if (after !== before) {
      const address = `#${after}`;
      if (step) history.pushState(null, '', address);
      else history.replaceState(null, '', address);
    }
    this.notify();
  }

  announce(text: string): void {
    this.announcement = text;
    this.notify();
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  private fromAddress(): void {
    const next = this.sane(decodeState(location.hash));
    if (encodeState(next) === encodeState(this.state)) return;
    this.state = next;
    this.notify();
  }

  // A link may speak of files and threads that are not here.
  private sane(state: State): State {
    const file = state.file < this.files.length ? state.file : 0;
    const about = this.files[file];
    const threads = state.threads.filter((thread) => thread < about.threads.length);
    const base = state.base && state.base.file < this.files.length ? state.base : null;
    const event = state.event < about.events.length ? state.event : 0;
    return { ...state, file, threads, base, event };
  }
}

export const StoreContext = createContext<Store>(null as unknown as Store);

export function useStore(): Store {
  const store = useContext(StoreContext);
  const [, redraw] = useState(0);
  useEffect(() => store.subscribe(() => redraw((n) => n + 1)), [store]);
  return store;
}

// A value that only those redraw for who show it: a tooltip that follows the pointer must not redraw the page.
export class Channel<T> {
  private readonly listeners = new Set<Listener>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    if (value === this.current) return;
    this.current = value;
    for (const listener of this.listeners) listener();
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export function useChannel<T>(channel: Channel<T>): T {
  const [, redraw] = useState(0);
  useEffect(() => channel.subscribe(() => redraw((n) => n + 1)), [channel]);
  return channel.value;
}

// What a legend leaves at full strength: while the pointer or the keyboard is on its entry, or until the next click on it.
export interface Lit {
  name: string;
  stays: boolean;
}

// What comes and goes without being part of the state: what floats above everything, and what is lit.
export class Floating {
  readonly litKind = new Channel<Lit | null>(null);
  readonly litCause = new Channel<Lit | null>(null);
  readonly hint = new Channel<Hint | null>(null);
  readonly menu = new Channel<Menu | null>(null);

  showHint(hint: Hint | null): void {
    this.hint.set(hint);
  }

  showMenu(menu: Menu | null): void {
    this.menu.set(menu);
  }
}

export const FloatingContext = createContext<Floating>(null as unknown as Floating);
