// The engine's replies, by view.

export const kCauses = ['js', 'gc', 'compile', 'regexp', 'native', 'kernel', 'idle', 'other'] as const;
export type Cause = (typeof kCauses)[number];

export const enum FrameKind {
  unknown,
  js,
  native,
  kernel,
  builtin,
  gc,
  regexp,
  wasm,
}

export const enum Origin {
  own,
  package,
  node,
  builtin,
  regexp,
  gc,
  native,
  kernel,
  unknown,
}

export const enum Tier {
  none,
  interpreted,
  baseline,
  maglev,
  turbofan,
}

export interface ThreadInfo {
  pid: number;
  tid: number;
  name: string;
  process: number;
  samples: number;
  is_main: boolean;
  role: 'main' | 'worker' | 'v8' | 'libuv' | 'other';
}

export interface Diagnostic {
  severity: 'info' | 'warning' | 'error';
  what: string;
  count: number;
  example: string;
}

export interface About {
  name: string;
  facts: Record<string, string>;
  events: { name: string; unit: string }[];
  duration_ns: number;
  first_wall_ns: number;
  accounting: { taken: number; shown: number; lost: number; other_events: number };
  resolved: { full: number; partial: number; none: number };
  has_times: boolean;
  processes: { pid: number; name: string }[];
  threads: ThreadInfo[];
  diagnostics: Diagnostic[];
  rate_hz: number;
  rate_estimated?: boolean;
  kinds_known: boolean;
  app_root: string;
}

export interface Heat {
  columns: number;
  rows: number;
  columnNs: number;
  firstNs: number;
  maximum: number;
  p995: number;
  count: Uint32Array;
  cause: Uint8Array;
  share: Uint8Array;
  matched?: Uint32Array;
}

export interface Lanes {
  bins: number;
  binNs: number;
  fromNs: number;
  cpuNs?: Float64Array; // [thread][bin][cause]; missing where CPU time is not known
}

// A call tree, level by level; children of a node are neighbours, left to right.
export interface Tree {
  total: number;
  depth: number;
  parent: Uint32Array;
  nodeDepth: Uint32Array;
  label: Uint32Array;
  start: Float64Array; // where its box begins: in the unit, or in a chart in time
  width: Float64Array;
  nodeTotal: Float64Array;
  nodeSelf: Float64Array;
  tier: Uint8Array;
  inlined: Uint8Array;
  beforeTotal?: Float64Array;
  afterTotal?: Float64Array;
}

export interface Labels {
  names: string[];
  places: string[];
  kind: Uint8Array;
  origin: Uint8Array;
  cause?: Uint8Array;
  matched?: Uint8Array;
}

export interface Flame {
  tree: Tree;
  labels: Labels;
  unit: string;
  matched?: number;
  beforeTotal?: number;
  afterTotal?: number;
}

export interface Sandwich {
  callers: Tree;
  callees: Tree;
  labels: Labels;
  unit: string;
  total: number;
  self: number;
}

export interface Table {
  total: number;
  unit: string;
  rowCount: number;
  names: string[];
  places: string[];
  self: Float64Array;
  totals: Float64Array;
  kind: Uint8Array;
  origin: Uint8Array;
  beforeSelf?: Float64Array;
  beforeTotal?: Float64Array;
}

// What a selection has, by cause.
export interface Causes {
  total: number;
  unit: string;
  by: Float64Array; // in the order of kCauses
}

export interface Stall {
  thread: number;
  from_ns: number;
  to_ns: number;
  wall_ms: number; // since 1970; 0: not known
  estimated: boolean;
  name: string;
  place: string;
  cause: string;
  samples: number;
  why: string;
}

export interface Stalls {
  stalls: Stall[];
  sentence?: string;
  measured: boolean;
  busy_percent?: number;
  longest?: Stall;
}

export const enum MarkerKind {
  gc,
  stall,
  other,
  lost,
}

export interface Marker {
  time: number;
  duration: number;
  thread: number;
  kind: MarkerKind;
  name: string;
}

export interface SourceLines {
  line: Uint32Array;
  column: Uint32Array;
  self: Float64Array;
  total: Float64Array;
  selectionTotal: number;
  unit: string;
}
