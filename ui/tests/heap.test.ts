import { describe, expect, test } from 'vitest';
import { classRows } from '../src/heap/class_rows';
import { signedCount, signedSize, size } from '../src/heap/format';
import { shownSteps } from '../src/heap/HolderView';
import { boxOfObject, icicleOf } from '../src/heap/icicle_model';
import { decodeHeapState, encodeHeapState, kInitialHeap } from '../src/heap/state';
import type { HeapClassesReply, HeapDominatorsReply, HeapObjectReply, HeapPath } from '../src/wire/generated';

const classes: HeapClassesReply = {
  total: 100,
  rows_count: 3,
  names: ['Map', 'Voucher', 'Order'],
  held: ['Ledger.entries (Map)', 'entries', ''],
  heap_class: Uint32Array.of(4, 5, 6),
  count: Float64Array.of(1, 9, 3),
  shallow: Float64Array.of(10, 90, 5),
  retained: Float64Array.of(80, 40, 40),
  distance: Float64Array.of(3, 5, 5),
};

describe('classes', () => {
  test('are sorted by what they retain, and filtered by name and holder', () => {
    expect(classRows(classes, '', 'retained', false)).toEqual([0, 1, 2]);
    expect(classRows(classes, '', 'count', false)).toEqual([1, 2, 0]);
    expect(classRows(classes, '', 'count', true)).toEqual([0, 2, 1]);
    expect(classRows(classes, '', 'name', false)).toEqual([0, 2, 1]);
    expect(classRows(classes, 'VOUCH', 'retained', false)).toEqual([1]);
    expect(classRows(classes, 'entries', 'retained', false)).toEqual([0, 1]);
  });
  test('of a comparison are sorted by growth', () => {
    const compared = { ...classes, retained_delta: Float64Array.of(-5, 30, 20) };
    expect(classRows(compared, '', 'retained', false)).toEqual([1, 2, 0]);
  });
});

test('sizes are those of the command line', () => {
  expect(size(1023)).toBe('1023 B');
  expect(size(1536)).toBe('1.5 KB');
  expect(signedSize(3.2 * 1024 * 1024)).toBe('+3.2 MB');
  expect(signedSize(-2048)).toBe('−2.0 KB');
  expect(signedSize(0)).toBe('0 B');
  expect(signedCount(9000)).toBe('+9,000');
  expect(signedCount(0)).toBe('0');
});

test('a link holds the whole state, and one that makes no sense holds none', () => {
  const state = { heapClass: 7, object: 4711, panel: 'object', zoom: 99, filter: 'a&b', sort: 'count', sortReversed: true } as const;
  expect(decodeHeapState(`#${encodeHeapState(state)}`)).toEqual(state);
  expect(encodeHeapState(kInitialHeap)).toBe('');
  expect(decodeHeapState('#class=x&object=-3&panel=no&zoom=1e5&sort=?&object=99999999999999999999')).toEqual(kInitialHeap);
});

test('a path shows what the program knows', () => {
  const path: HeapPath = {
    via: ['', 'context', 'ledger', 'entries', 'table', '17'],
    labels: ['global', 'Context', 'Ledger', 'Map', '(array)', 'Voucher'],
    id: new Float64Array(6),
    retained: new Float64Array(6),
    objects: new Float64Array(6),
    is_own: Uint8Array.of(1, 0, 1, 1, 0, 1),
    is_new: new Uint8Array(6),
    left_out: 0,
  };
  expect(shownSteps(path).map(({ row, hidden, via }) => [row, hidden, via])).toEqual([
    [0, 0, ''],
    [2, 1, 'ledger'],
    [3, 0, 'entries'],
    [5, 1, '17'],
  ]);
});

test('an object is in the box of its nearest dominator, or in that of its class below', () => {
  const reply: HeapDominatorsReply = {
    total: 100,
    labels: ['root', 'Map @11', 'Voucher × 9', 'other'],
    parent: Uint32Array.of(0, 0, 1, 0),
    depth: Uint32Array.of(0, 1, 2, 1),
    heap_class: Uint32Array.of(0, 4, 5, 8),
    id: Float64Array.of(1, 11, 0, 19),
    objects: Float64Array.of(1, 1, 9, 1),
    start: Float64Array.of(0, 0, 0, 80),
    retained: Float64Array.of(100, 80, 60, 10),
  };
  const object = (heap_class: number, ...dominators: number[]) => ({ heap_class, dominators: Float64Array.from(dominators) }) as HeapObjectReply;
  expect(boxOfObject(reply, object(4, 1, 11))).toBe(1);
  expect(boxOfObject(reply, object(5, 1, 11, 1001))).toBe(2);
  expect(boxOfObject(reply, object(6, 1, 11, 1003))).toBe(1);
  expect(boxOfObject(reply, object(6, 1, 11, 1001, 1003))).toBe(1);
  expect(icicleOf(reply).depth).toBe(1);
});
