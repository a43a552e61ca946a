// Dominators as boxes, and which of them an object is in.

import { plain } from '../app/format';
import type { Icicle } from '../draw/icicle';
import type { HeapDominatorsReply, HeapObjectReply } from '../wire/generated';
import { size } from './format';

export function icicleOf(reply: HeapDominatorsReply): Icicle {
  return {
    total: reply.total,
    depth: reply.depth.at(-1) ?? 0,
    parent: reply.parent,
    nodeDepth: reply.depth,
    start: reply.start,
    width: reply.retained,
    labels: reply.labels.map((label) => plain(label, 200)),
    sizes: Array.from(reply.retained, size),
    fresh: reply.fresh,
  };
}

// The deepest box that holds the object: its dominators name those of one object; below them a box of several is known by class.
export function boxOfObject(reply: HeapDominatorsReply, object: HeapObjectReply): number | null {
  const byId = new Map<number, number>();
  reply.id.forEach((id, box) => id !== 0 && byId.set(id, box));
  for (let i = object.dominators.length - 1; i >= 0; i--) {
    const box = byId.get(object.dominators[i]);
    if (box === undefined) continue;
    if (i !== object.dominators.length - 2) return box;
    const among = reply.parent.findIndex((parent, j) => j > 0 && parent === box && reply.id[j] === 0 && reply.heap_class[j] === object.heap_class);
    return among > 0 ? among : box;
  }
  return null;
}
