// What views draw, where that is not a reply as it is.

import { kCauseNames, type CausesReply, type FlameReply, type MarkersReply, type SandwichReply, type TreeColumns } from './generated';
import type { Causes, Flame, Marker, Sandwich, Tree } from './views';

export function asItIs<T>(reply: T): T {
  return reply;
}

export function decodeCauses({ unit, total: by }: CausesReply): Causes {
  return { total: by.reduce((a, b) => a + b, 0), unit, by, idle: by[kCauseNames.indexOf('idle')], gc: by[kCauseNames.indexOf('gc')] };
}

// A chart is drawn over time, so that a pause is a gap.
function boxes({ start, total, begin_ns: begin, end_ns: end }: TreeColumns): { start: Float64Array; width: Float64Array } {
  return begin && end ? { start: begin, width: end.map((time, i) => time - begin[i]) } : { start, width: total };
}

function decodeTree(columns: TreeColumns, total: number): Tree {
  return {
    ...boxes(columns),
    total,
    depth: columns.depth.at(-1) ?? 0,
    parent: columns.parent,
    nodeDepth: columns.depth,
    label: columns.label,
    nodeTotal: columns.total,
    nodeSelf: columns.self,
    tier: columns.tier,
    inlined: columns.inlined,
    beforeTotal: columns.before_total,
    afterTotal: columns.after_total,
  };
}

export function decodeFlame({ tree, ...reply }: FlameReply): Flame {
  return { ...reply, tree: decodeTree(tree, reply.total) };
}

export function decodeSandwich({ callers, callees, ...reply }: SandwichReply): Sandwich {
  return { ...reply, callers: decodeTree(callers, callers.total[0] ?? 0), callees: decodeTree(callees, callees.total[0] ?? 0) };
}

export function decodeMarkers({ names, time, duration, thread, kind }: MarkersReply): Marker[] {
  return names.map((name, i) => ({ name, time: time[i], duration: duration[i], thread: thread[i], kind: kind[i] }));
}
