// The rows of the class table, filtered and sorted: plain numbers, tested as such.

import type { HeapClassesReply } from '../wire/generated';
import type { HeapSort } from './state';

export const kGone = 0xffffffff; // in place of a class's number: none of it is left

function column(reply: HeapClassesReply, sort: HeapSort): ArrayLike<number> {
  switch (sort) {
    case 'before':
      return reply.before_count ?? reply.count;
    case 'added':
      return reply.added ?? reply.count;
    case 'shallow':
      return reply.shallow_delta ?? reply.shallow;
    case 'retained':
      return reply.retained_delta ?? reply.retained;
    default:
      return reply.count;
  }
}

// Largest first, names from A to Z; the other way round where it is reversed.
export function classRows(reply: HeapClassesReply, filter: string, sort: HeapSort, reversed: boolean): number[] {
  const wanted = filter.trim().toLowerCase();
  const matches = (i: number) => `${reply.names[i]} ${reply.held[i] ?? ''}`.toLowerCase().includes(wanted);
  const rows = reply.names.map((_, i) => i).filter((i) => !wanted || matches(i));
  const direction = reversed ? -1 : 1;
  if (sort === 'name') return rows.sort((a, b) => direction * (reply.names[a] < reply.names[b] ? -1 : reply.names[a] > reply.names[b] ? 1 : a - b));
  const values = column(reply, sort);
  return rows.sort((a, b) => direction * (values[b] - values[a]) || a - b);
}
