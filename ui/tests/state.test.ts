import { describe, expect, it } from 'vitest';
import { decodeState, encodeState, kInitial, type State } from '../src/app/state';

describe('the address', () => {
  it('is empty for the first view', () => {
    expect(encodeState(kInitial)).toBe('');
    expect(decodeState('')).toEqual(kInitial);
  });

  it('holds every part of the state', () => {
    const state: State = {
      file: 1,
      event: 2,
      range: [30_900_000_001, 32_400_000_000],
      threads: [3, 14],
      base: { file: 0, range: [0, 1_500_000_000], threads: [7] },
      include: ['^a&b=c#d$', 'x y'],
      exclude: ['é"></script>'],
      my: true,
      fold: false,
      awaiters: false,
      search: 'json|<script>',
      mode: 'cause',
      window: [1_000_000_000, 61_000_000_000],
      cellMs: 50,
      view: 'sandwich',
      reversed: true,
      icicle: false,
      byThread: true,
      tiers: true,
      recursion: true,
    absolute: true,
    vanished: true,
      palette: 'package',
      zoom: 4711,
      fn: { name: 'a::b(c const&)', place: '/app/x y.js:3:9' },
      source: '/app/x.js:1:1',
      group: 'package',
      sort: 'total',
      sortReversed: true,
      filter: '^on',
    };
    expect(decodeState(`#${encodeState(state)}`)).toEqual(state);
  });

  it('keeps a baseline of the same file and all of its time', () => {
    const state: State = { ...kInitial, base: { file: 0, range: null, threads: [2] } };
    expect(decodeState(encodeState(state))).toEqual(state);
  });

  it('leaves out what makes no sense', () => {
    const state = decodeState('#sel=5-3&threads=a.-1.2&mode=loud&view=none&zoom=-4&cell=0&group=1&file=99999999999');
    expect(state).toEqual({ ...kInitial, threads: [2] });
  });

  it('survives any text', () => {
    for (const text of ['#%', '#=&=&&', '#sel=NaN-NaN', `#q=${'%FF'.repeat(100)}`, '#sel=1e99-2e99', '#__proto__=1']) {
      expect(() => decodeState(text)).not.toThrow();
    }
  });
});
