// From replies to the views' types.

import type { Reply } from './reply';
import type { Causes, Flame, Heat, Labels, Lanes, Marker, Sandwich, SourceLines, Stalls, Table, Tree } from './views';

export function decodeHeat({ json, columns }: Reply): Heat {
  return {
    columns: json.columns_count,
    rows: json.rows,
    columnNs: json.column_ns,
    firstNs: json.first_column_ns,
    maximum: json.maximum,
    p995: json.p995,
    count: columns.count as Uint32Array,
    cause: columns.cause as Uint8Array,
    share: columns.share as Uint8Array,
    matched: columns.matched as Uint32Array | undefined,
  };
}

export function decodeLanes({ json, columns }: Reply): Lanes {
  return { bins: json.bins, binNs: json.bin_ns, fromNs: json.first_ns, cpuNs: columns.cpu_ns as Float64Array | undefined };
}

// A chart is drawn over time, so that a pause is a gap.
function boxes(columns: Reply['columns'], prefix: string, totals: Float64Array): { start: Float64Array; width: Float64Array } {
  const begin = columns[`${prefix}time`] as Float64Array | undefined;
  const end = columns[`${prefix}end_time`] as Float64Array | undefined;
  if (!begin || !end) return { start: columns[`${prefix}start`] as Float64Array, width: totals };
  return { start: begin, width: end.map((time, i) => time - begin[i]) };
}

export function decodeCauses({ json, columns }: Reply): Causes {
  const by = columns.total as Float64Array;
  return { total: by.reduce((a, b) => a + b, 0), unit: json.unit, by };
}

function decodeTree(columns: Reply['columns'], prefix: string, total?: number): Tree {
  const depths = columns[`${prefix}depth`] as Uint32Array;
  const totals = columns[`${prefix}total`] as Float64Array;
  return {
    total: total ?? totals[0] ?? 0,
    depth: depths.length > 0 ? depths[depths.length - 1] : 0,
    parent: columns[`${prefix}parent`] as Uint32Array,
    nodeDepth: depths,
    label: columns[`${prefix}label`] as Uint32Array,
    ...boxes(columns, prefix, totals),
    nodeTotal: totals,
    nodeSelf: columns[`${prefix}self`] as Float64Array,
    tier: columns[`${prefix}tier`] as Uint8Array,
    inlined: columns[`${prefix}inlined`] as Uint8Array,
    beforeTotal: columns[`${prefix}before_total`] as Float64Array | undefined,
    afterTotal: columns[`${prefix}after_total`] as Float64Array | undefined,
  };
}

function decodeLabels({ json, columns }: Reply): Labels {
  return {
    names: json.names,
    places: json.places,
    kind: columns.label_kind as Uint8Array,
    origin: columns.label_origin as Uint8Array,
    cause: columns.label_cause as Uint8Array | undefined,
    matched: columns.label_matched as Uint8Array | undefined,
  };
}

export function decodeFlame(reply: Reply): Flame {
  const { json, columns } = reply;
  return {
    tree: decodeTree(columns, '', json.total),
    labels: decodeLabels(reply),
    unit: json.unit,
    matched: json.matched,
    beforeTotal: json.before_total,
    afterTotal: json.after_total,
  };
}

export function decodeSandwich(reply: Reply): Sandwich {
  const { json, columns } = reply;
  return {
    callers: decodeTree(columns, 'callers_'),
    callees: decodeTree(columns, 'callees_'),
    labels: decodeLabels(reply),
    unit: json.unit,
    total: json.total,
    self: json.self,
  };
}

export function decodeTable({ json, columns }: Reply): Table {
  return {
    total: json.total,
    unit: json.unit,
    rowCount: json.rows_count,
    names: json.names,
    places: json.places,
    self: columns.self as Float64Array,
    totals: columns.total as Float64Array,
    kind: columns.kind as Uint8Array,
    origin: columns.origin as Uint8Array,
    beforeSelf: columns.before_self as Float64Array | undefined,
    beforeTotal: columns.before_total as Float64Array | undefined,
  };
}

export function decodeStalls({ json }: Reply): Stalls {
  return json as unknown as Stalls;
}

export function decodeVerdict({ json }: Reply): string {
  return json.sentence;
}

export function decodeMarkers({ json, columns }: Reply): Marker[] {
  const names: string[] = json.names ?? [];
  return names.map((name, i) => ({
    name,
    time: columns.time[i],
    duration: columns.duration[i],
    thread: columns.thread[i],
    kind: columns.kind[i],
  }));
}

export function decodeSource({ json, columns }: Reply): SourceLines {
  return {
    line: columns.line as Uint32Array,
    column: columns.column as Uint32Array,
    self: columns.self as Float64Array,
    total: columns.total as Float64Array,
    selectionTotal: json.total,
    unit: json.unit,
  };
}
