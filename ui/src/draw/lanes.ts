// A lane for each thread or group of helpers: CPU use over time by cause, collections and stalls.

import { count, percent } from '../app/format';
import type { Range } from '../app/state';
import { kCauses, MarkerKind, type About, type Lanes, type Marker, type Stall, type ThreadInfo } from '../wire/views';
import { prepare } from './canvas';
import type { Theme } from './palette';
import { kGutter, type TimeAxis } from './time_axis';

export interface Lane {
  title: string;
  subtitle: string;
  threads: number[];
  isMain: boolean;
}

const kHelperWords: Record<string, string> = { v8: 'V8 helpers', libuv: 'libuv pool', other: 'other threads' };

function processTitle(about: About, process: number): string {
  const { name, pid } = about.processes[process] ?? { name: '', pid: 0 };
  return name || (pid ? `process ${pid}` : 'samples');
}

// Processes one below the other, each with the threads that run JavaScript first and its helpers in groups.
export function lanesOf(about: About): Lane[] {
  const lanes: Lane[] = [];
  const byProcess = new Map<number, number[]>();
  about.threads.forEach((thread, i) => {
    if (thread.samples === 0) return;
    const list = byProcess.get(thread.process);
    if (list) list.push(i);
    else byProcess.set(thread.process, [i]);
  });
  const processes = [...byProcess.keys()].sort((a, b) => (about.processes[a]?.pid ?? 0) - (about.processes[b]?.pid ?? 0));
  for (const process of processes) lanes.push(...processLanes(about, process, byProcess.get(process)!));
  return lanes;
}

function processLanes(about: About, process: number, threads: number[]): Lane[] {
  const info = (i: number): ThreadInfo => about.threads[i];
  const lanes: Lane[] = [];
  const title = processTitle(about, process);
  const leaders = threads.filter((i) => info(i).role === 'main' || info(i).role === 'worker');
  const mains = leaders.filter((i) => info(i).role === 'main');
  if (mains.length > 0) lanes.push({ title, subtitle: String(info(mains[0]).pid || ''), threads: mains, isMain: true });
  for (const i of leaders) {
    if (info(i).role === 'worker') lanes.push({ title: `worker ${info(i).tid}`, subtitle: info(i).name, threads: [i], isMain: true });
  }
  for (const role of ['v8', 'libuv', 'other'] as const) {
    const group = threads.filter((i) => info(i).role === role);
    if (group.length === 0) continue;
    const alone = lanes.length === 0;
    const name = group.length === 1 ? info(group[0]).name || kHelperWords[role] : `${kHelperWords[role]} ×${group.length}`;
    lanes.push({
      title: alone ? title : name,
      subtitle: alone ? String(info(group[0]).pid || '') : '',
      threads: group,
      isMain: alone,
    });
  }
  return lanes;
}

export interface LanesPicture {
  lanes: Lane[];
  data: Lanes | null;
  axis: TimeAxis;
  range: Range | null;
  base: Range | null;
  chosen: readonly number[];
  stalls: readonly Stall[];
  markers: readonly Marker[];
  durationNs: number;
  theme: Theme;
  tall: boolean;
  lit: string | null; // the cause that is not dimmed
}

export function laneHeight(lane: Lane, tall: boolean): number {
  if (lane.isMain) return tall ? 34 : 28;
  return tall ? 18 : 15;
}

export function lanesHeight(lanes: Lane[], tall: boolean): number {
  return lanes.reduce((sum, lane) => sum + laneHeight(lane, tall), 4);
}

export function laneAt(lanes: Lane[], tall: boolean, y: number): number {
  let top = 0;
  for (let i = 0; i < lanes.length; i++) {
    top += laneHeight(lanes[i], tall);
    if (y < top) return y < 0 ? -1 : i;
  }
  return -1;
}

const kUnlit = 0.12;

// From the bottom up.
const kStackOrder = ['js', 'native', 'kernel', 'other', 'regexp', 'compile', 'gc', 'waiting'].map((name) => kCauses.indexOf(name as never));

export function isChosen(lane: Lane, chosen: readonly number[]): boolean {
  return lane.threads.some((thread) => chosen.includes(thread));
}

export function drawLanes(canvas: HTMLCanvasElement, picture: LanesPicture): void {
  const { lanes, axis, tall, theme } = picture;
  const height = lanesHeight(lanes, tall);
  const g = prepare(canvas, axis.width, height);
  let y = 0;
  for (const lane of lanes) {
    drawLane(g, picture, lane, y);
    y += laneHeight(lane, tall);
  }
  drawRange(g, axis, picture.range, height, theme, false);
  if (picture.base) drawRange(g, axis, picture.base, height, theme, true);
}

function drawLane(g: CanvasRenderingContext2D, picture: LanesPicture, lane: Lane, y: number): void {
  const { theme, axis, chosen, tall } = picture;
  const h = laneHeight(lane, tall);
  const base = y + h - (lane.isMain ? 5 : 2);
  if (lane.isMain) {
    g.fillStyle = theme.get('line');
    g.fillRect(0, y, axis.width, 1);
  }
  const picked = isChosen(lane, chosen);
  if (picked) {
    g.fillStyle = theme.get('accent-soft');
    g.fillRect(0, y + 1, kGutter - 4, h - 1);
  }
  g.globalAlpha = chosen.length > 0 && !picked ? 0.45 : 1;
  drawLaneWords(g, picture, lane, y, h);
  g.fillStyle = theme.get('line');
  g.fillRect(kGutter, base, axis.plotWidth, 1);
  drawUse(g, picture, lane, base, h - (lane.isMain ? 9 : 4));
  if (lane.isMain) drawMarks(g, picture, lane, y, base);
  g.globalAlpha = 1;
}

function drawLaneWords(g: CanvasRenderingContext2D, picture: LanesPicture, lane: Lane, y: number, h: number): void {
  const { theme } = picture;
  const middle = y + h / 2;
  g.textAlign = 'left';
  g.font = lane.isMain ? `600 12px ${theme.get('sans')}` : `11px ${theme.get('sans')}`;
  g.fillStyle = theme.get(lane.isMain ? 'ink' : 'ink3');
  const room = kGutter - 62;
  g.fillText(lane.title, 16, middle, room);
  if (lane.subtitle) {
    const width = Math.min(room, g.measureText(lane.title).width);
    g.font = `11px ${theme.get('sans')}`;
    g.fillStyle = theme.get('ink3');
    if (width + 30 < room) g.fillText(lane.subtitle, 16 + width + 6, middle, room - width - 6);
  }
  const use = laneUse(picture, lane);
  g.textAlign = 'right';
  g.font = `${lane.isMain ? '600 ' : ''}11px ${theme.get('sans')}`;
  g.fillStyle = theme.get(lane.isMain ? 'ink' : 'ink3');
  g.fillText(use === null ? '' : use < 0.005 ? '–' : `${Math.round(use * 100)} %`, kGutter - 8, middle);
}

// CPUs that the lane's threads used in the selection; null where that is not known.
export function laneUse({ data, range, durationNs }: LanesPicture, lane: Lane): number | null {
  if (!data?.cpu_ns) return null;
  const from = range ? range[0] : 0;
  const to = range ? range[1] : durationNs;
  let cpuNs = 0;
  for (const thread of lane.threads) {
    for (let bin = 0; bin < data.bins; bin++) {
      const begin = data.first_ns + bin * data.bin_ns;
      const overlap = Math.min(to, begin + data.bin_ns) - Math.max(from, begin);
      if (overlap <= 0) continue;
      cpuNs += (binTotal(data, data.cpu_ns, thread, bin) * overlap) / data.bin_ns;
    }
  }
  return cpuNs / Math.max(1, to - from);
}

function binTotal(data: Lanes, cpuNs: Float64Array, thread: number, bin: number): number {
  let total = 0;
  const at = (thread * data.bins + bin) * kCauses.length;
  for (let cause = 0; cause < kCauses.length; cause++) total += cpuNs[at + cause];
  return total;
}

function drawUse(g: CanvasRenderingContext2D, { data, axis, theme, lit }: LanesPicture, lane: Lane, base: number, full: number): void {
  if (!data?.cpu_ns) return;
  const strength = g.globalAlpha;
  const perCpu = data.bin_ns * (lane.isMain ? 1 : Math.max(1, lane.threads.length));
  for (let bin = 0; bin < data.bins; bin++) {
    const x = axis.xOf(data.first_ns + bin * data.bin_ns);
    const w = axis.xOf(data.first_ns + (bin + 1) * data.bin_ns) - x;
    if (x + w < kGutter || x > axis.width) continue;
    let top = base;
    for (const cause of kStackOrder) {
      let cpuNs = 0;
      for (const thread of lane.threads) cpuNs += data.cpu_ns[(thread * data.bins + bin) * kCauses.length + cause];
      if (cpuNs === 0) continue;
      const height = Math.min((cpuNs / perCpu) * full, top - (base - full));
      if (height <= 0) continue;
      g.globalAlpha = lit === null || lit === kCauses[cause] ? strength : strength * kUnlit;
      g.fillStyle = theme.get(`m-${kCauses[cause]}`);
      g.fillRect(x, top - height, Math.max(0.5, w), height);
      top -= height;
    }
  }
  g.globalAlpha = strength;
}

function drawMarks(g: CanvasRenderingContext2D, picture: LanesPicture, lane: Lane, y: number, base: number): void {
  const { axis, theme, stalls, markers } = picture;
  g.fillStyle = theme.get('m-gc');
  for (const marker of markers) {
    if (marker.kind !== MarkerKind.gc || !lane.threads.includes(marker.thread)) continue;
    const x = axis.xOf(marker.time);
    if (x >= kGutter && x <= axis.width) g.fillRect(x, base + 1, Math.max(1, axis.xOf(marker.time + marker.duration) - x), 3);
  }
  g.fillStyle = theme.get('stall');
  for (const stall of stalls) {
    if (!lane.threads.includes(stall.thread)) continue;
    const x = axis.xOf(stall.from_ns);
    const w = Math.max(4, axis.xOf(stall.to_ns) - x);
    if (x + w < kGutter || x > axis.width) continue;
    g.fillRect(x, y + 2, w, 3);
    g.fillRect(x, y + 2, 1, 6);
    g.fillRect(x + w - 1, y + 2, 1, 6);
  }
}

function drawRange(g: CanvasRenderingContext2D, axis: TimeAxis, range: Range | null, height: number, theme: Theme, isBase: boolean): void {
  if (!range) return;
  const x0 = Math.max(kGutter, axis.xOf(range[0]));
  const x1 = Math.min(axis.width, axis.xOf(range[1]));
  if (x1 < kGutter || x0 > axis.width) return;
  if (!isBase) {
    g.fillStyle = theme.get('veil2');
    g.fillRect(kGutter, 0, x0 - kGutter, height);
    g.fillRect(x1, 0, axis.width - x1, height);
  }
  g.fillStyle = theme.get(isBase ? 'accent' : 'sel');
  g.fillRect(x0 - 0.75, 0, 1.5, height);
  g.fillRect(x1 - 0.75, 0, 1.5, height);
}

export function laneWords(picture: LanesPicture, lane: Lane): string {
  const use = laneUse(picture, lane);
  const samples = lane.threads.length === 1 ? '' : `, ${count(lane.threads.length)} threads`;
  return `${lane.title} ${lane.subtitle}${samples}${use === null ? '' : `, ${percent(use, 0)} of a CPU`}`;
}
