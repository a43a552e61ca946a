// What each view asks the engine, derived from the state.

import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { encodeQuery, type Ask, type Query, type ViewName } from '../wire/engine';
import type { About, Replies } from '../wire/views';
import type { Palette, State } from './state';
import { StoreContext } from './store';

export function selectionQuery(state: State): Query {
  return {
    file: state.file || undefined,
    event: state.event || undefined,
    from: state.range?.[0],
    to: state.range?.[1],
    threads: state.threads,
    include: state.include,
    exclude: state.exclude,
    my: state.my,
    no_async: !state.awaiters,
  };
}

function baselineQuery(state: State): Query {
  if (!state.base) return {};
  return {
    'base.file': state.base.file,
    'base.from': state.base.range?.[0],
    'base.to': state.base.range?.[1],
    'base.threads': state.base.threads,
    'base.include': state.include,
    'base.exclude': state.exclude,
    'base.my': state.my,
    normalise: state.absolute ? '0' : undefined,
    width: state.vanished ? 'both' : undefined,
  };
}

// Where nothing is known about kinds, they would all have one colour.
export function paletteOf(state: State, about: About): Palette {
  return state.palette === 'kind' && !about.kinds_known ? 'name' : state.palette;
}

// A chart is of one thread: the chosen one, or the busiest that runs JavaScript.
export function chartThread(state: State, about: About): number[] {
  if (state.threads.length === 1) return [...state.threads];
  const candidates = state.threads.length > 0 ? state.threads : about.threads.map((_, i) => i);
  const rank = (i: number) => (about.threads[i].is_main ? 1e12 : 0) + about.threads[i].samples;
  return [[...candidates].sort((a, b) => rank(b) - rank(a))[0] ?? 0];
}

// Boxes below this share of all are left out: too small for the screen, and for one that is zoomed a hundred times as well.
const kLeastShare = 1e-5;

export function flameQuery(state: State, about: About): Ask<'flame'> {
  const chart = state.view === 'chart';
  return {
    view: 'flame',
    ...selectionQuery(state),
    ...(chart ? { threads: chartThread(state, about) } : {}),
    ...(chart ? { order: 'time' } : baselineQuery(state)),
    reversed: !chart && state.reversed,
    roots: state.byThread && !chart ? 'thread' : undefined,
    tiers: state.tiers ? 'split' : undefined,
    recursion: state.recursion,
    fold: state.fold && !state.reversed,
    search: state.search,
    min: kLeastShare,
  };
}

// Only my code regroups samples but leaves none out.
export function causesQuery(state: State): Ask<'causes'> {
  return { view: 'causes', ...selectionQuery(state), my: undefined };
}

export function verdictQuery(state: State): Ask<'verdict'> {
  return { view: 'verdict', file: state.file || undefined };
}

export function sandwichQuery(state: State): Ask<'sandwich'> | null {
  if (!state.fn) return null;
  return { view: 'sandwich', ...selectionQuery(state), name: state.fn.name, place: state.fn.place, search: state.search };
}

export function tableQuery(state: State): Ask<'table'> {
  return {
    view: 'table',
    ...selectionQuery(state),
    ...baselineQuery(state),
    group: state.group,
    sort: state.sort,
    order: state.sortReversed ? 'reversed' : undefined,
    filter: state.filter || state.search,
  };
}

export interface Loaded<T> {
  data: T | null;
  loading: boolean;
  error: string;
}

// Asks whenever the query changes.  Shows the last answer until the next one is there, and while one is on its way only the newest
// of all later questions waits: dragging stays smooth however long an answer takes.
export function useEngine<V extends ViewName, T>(query: Ask<V> | null, decode: (reply: Replies[V]) => T): Loaded<T> {
  const { engine } = useContext(StoreContext);
  const [result, setResult] = useState<Loaded<T>>({ data: null, loading: true, error: '' });
  const running = useRef(false);
  const wanted = useRef<Ask<V> | null>(null);
  const alive = useRef(true);
  const key = query ? encodeQuery(query) : '';

  useEffect(() => () => void (alive.current = false), []);
  useEffect(() => {
    wanted.current = query;
    if (!query) {
      setResult({ data: null, loading: false, error: '' });
      return;
    }
    const run = async () => {
      running.current = true;
      while (wanted.current) {
        const asked = wanted.current;
        wanted.current = null;
        let next: Loaded<T>;
        try {
          next = { data: decode(await engine.ask(asked)), loading: false, error: '' };
        } catch (error) {
          next = { data: null, loading: false, error: (error as Error).message };
        }
        if (alive.current) setResult(next);
      }
      running.current = false;
    };
    if (!running.current) void run();
  }, [key]);
  return result;
}
