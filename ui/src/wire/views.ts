// What views draw.  Most of it is a reply as the engine gives it.

import { kCauseNames, type FlameReply, type LabelColumns, type MarkerKind, type SandwichReply, type UnitName } from './generated';

export * from './generated';
export type {
  HeatReply as Heat,
  LabelColumns as Labels,
  LanesReply as Lanes,
  SourceReply as SourceLines,
  StallInfo as Stall,
  StallsReply as Stalls,
  TableReply as Table,
} from './generated';

export const kCauses = kCauseNames;

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

export interface Flame extends Omit<FlameReply, 'tree'> {
  tree: Tree;
  labels: LabelColumns;
}

export interface Sandwich extends Omit<SandwichReply, 'callers' | 'callees'> {
  callers: Tree;
  callees: Tree;
}

// What a selection has, by cause.
export interface Causes {
  total: number;
  unit: UnitName;
  by: Float64Array; // in the order of kCauses
  idle: number;
  gc: number;
}

export interface Marker {
  time: number;
  duration: number;
  thread: number;
  kind: MarkerKind;
  name: string;
}
