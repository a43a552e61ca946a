import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { compareWith, select, selectStall } from '../app/actions';
import { clock, count, duration, plain } from '../app/format';
import { zoomWindow } from '../app/keys';
import { useEngine } from '../app/queries';
import { useSize } from '../app/size';
import type { HeatMode, Range } from '../app/state';
import { FloatingContext, useChannel, useStore } from '../app/store';
import { useTheme } from '../app/theme';
import { drawHeat, heatHeight, kHeatTop } from '../draw/heat';
import { drawLanes, isChosen, laneAt, lanesHeight, lanesOf, laneWords, type Lane, type LanesPicture } from '../draw/lanes';
import { kCauseWords } from '../draw/palette';
import { kGutter, TimeAxis } from '../draw/time_axis';
import { asItIs } from '../wire/decode';
import { kCauses, MarkerKind, type Heat, type Marker, type Stall } from '../wire/views';
import { Key, Segments, Swatch } from './parts';

const kCellChoices = [10, 20, 50, 100];
const kMaxLaneArea = 208;
const kShortWindow = 800; // pixels
const kMaxLosses = 2000;

// A bin is at least two pixels wide, and long enough for four samples of a busy thread: with fewer a lane is stripes.
function laneBins(axis: TimeAxis, rate: number): number {
  const seconds = (axis.toNs - axis.fromNs) / 1e9;
  const most = rate > 0 ? Math.floor((seconds * rate) / 4) : Infinity;
  return Math.max(1, Math.min(Math.floor(axis.plotWidth / 2), most));
}

interface Cell {
  column: number;
  row: number;
}

function Legend({ mode, heat, searching }: { mode: HeatMode; heat: Heat | null; searching: boolean }) {
  const { litCause } = useContext(FloatingContext);
  if (searching) {
    return (
      <div class="legend">
        <span>
          <Swatch token="accent" /> where the search is found
        </span>
      </div>
    );
  }
  if (mode === 'cause') {
    return (
      <div class="legend">
        {kCauses
          .filter((cause) => cause !== 'idle')
          .map((cause) => (
            <Key key={cause} name={cause} lit={litCause}>
              <Swatch token={`m-${cause}`} /> {kCauseWords[cause]}
            </Key>
          ))}
      </div>
    );
  }
  return (
    <div class="legend">
      <span>
        0 <i class="ramp" /> {heat ? `${count(Math.max(4, heat.p995))} samples per cell` : ''}
      </span>
    </div>
  );
}

function heatTip(axis: TimeAxis, rows: number, heat: Heat | null, cell: Cell, lost: readonly Marker[], durationNs: number, who: string) {
  const rowNs = axis.columnNs / rows;
  const from = axis.fromNs + cell.column * axis.columnNs + cell.row * rowNs;
  const shift = heat ? Math.round((axis.fromNs - heat.first_column_ns) / axis.columnNs) : 0;
  const at = (cell.column + shift) * rows + cell.row;
  const samples = heat?.count[at] ?? 0;
  const cause = kCauses[heat?.cause[at] ?? 255];
  const loss = lost.find((marker) => marker.time < from + rowNs && marker.time + marker.duration >= from);
  return (
    <>
      <div class="t">
        {clock(from, 2)} – {clock(from + rowNs, 2)}
      </div>
      {loss && <div class="dim">Samples were lost here: {plain(loss.name, 80)}</div>}
      {samples > 0 ? (
        <>
          <div>
            {count(samples)} {samples === 1 ? 'sample' : 'samples'}
          </div>
          {cause && (
            <div class="kind">
              <Swatch token={`m-${cause}`} />
              {kCauseWords[cause]} {Math.round(((heat?.share[at] ?? 0) / 255) * 100)} %
            </div>
          )}
          {heat?.matched && <div class="dim">{count(heat.matched[at])} match the search</div>}
        </>
      ) : (
        <div class="dim">{from > durationNs ? 'Not recorded.' : `Idle: ${who} on a CPU.`}</div>
      )}
    </>
  );
}

export function WhenPanel({ stalls, markers }: { stalls: readonly Stall[]; markers: readonly Marker[] }) {
  const store = useStore();
  const theme = useTheme();
  const floating = useContext(FloatingContext);
  const { state, about } = store;
  const lit = useChannel(floating.litCause)?.name ?? null;
  const panel = useRef<HTMLElement>(null);
  const heatCanvas = useRef<HTMLCanvasElement>(null);
  const laneCanvas = useRef<HTMLCanvasElement>(null);
  const { width } = useSize(panel);
  const [hovered, setHovered] = useState<Cell | null>(null);
  const drag = useRef<{ from: number; base: boolean; moved: boolean } | null>(null);
  const armed = useRef<number | null>(null); // the cell of a first click
  const tall = innerHeight >= 1000;
  const rowHeight = tall ? 5 : innerHeight < kShortWindow ? 3 : 4;

  const window_ = state.window ?? ([0, Math.max(1e9, about.duration_ns)] as Range);
  const axis = useMemo(() => new TimeAxis(window_, Math.max(200, width)), [window_[0], window_[1], width]);
  const rows = Math.max(1, Math.min(100, Math.round(1000 / state.cellMs)));
  const rowNs = axis.columnNs / rows;
  const lanes = useMemo(() => lanesOf(about), [about]);
  const lost = useMemo(() => markers.filter((marker) => marker.kind === MarkerKind.lost).slice(0, kMaxLosses), [markers]);

  const shared = { file: state.file || undefined, event: state.event || undefined, from: axis.fromNs, to: axis.toNs };
  const heat = useEngine(
    width === 0 ? null : { view: 'heat', ...shared, threads: state.threads, include: state.include, exclude: state.exclude, column_ns: axis.columnNs, rows, search: state.search },
    asItIs,
  );
  const bins = laneBins(axis, about.rate_hz);
  const laneData = useEngine(width === 0 ? null : { view: 'lanes', ...shared, bins }, asItIs);
  const picture: LanesPicture = {
    lanes,
    data: laneData.data,
    axis,
    range: state.range,
    base: state.base?.file === state.file ? state.base.range : null,
    chosen: state.threads,
    stalls,
    markers,
    durationNs: about.duration_ns,
    theme,
    tall,
    lit,
  };
  const chosenLane = lanes.find((lane) => isChosen(lane, state.threads));
  const idleWho = state.threads.length === 0 ? 'no thread was' : state.threads.length === 1 ? 'this thread was not' : 'none of these threads was';

  useLayoutEffect(() => {
    if (width === 0) return;
    drawHeat(heatCanvas.current!, {
      heat: heat.data,
      axis,
      rows,
      rowHeight,
      mode: state.mode,
      lit,
      range: state.range,
      base: picture.base,
      lost,
      hovered,
      title: chosenLane ? plain(chosenLane.title, 24) : 'All threads',
      subtitle: chosenLane ? plain(chosenLane.subtitle, 24) : '',
      theme,
    });
  }, [heat.data, axis, rows, rowHeight, state.mode, state.range, state.base, hovered?.column, hovered?.row, chosenLane, theme, lost, lit]);
  useLayoutEffect(() => {
    if (width > 0) drawLanes(laneCanvas.current!, picture);
  }, [laneData.data, axis, theme, state.range, state.threads, state.base, stalls, markers, lanes, tall, lit]);

  const cellAt = (event: MouseEvent): Cell | null => {
    const box = heatCanvas.current!.getBoundingClientRect();
    const column = axis.columnAt(event.clientX - box.left);
    const row = Math.floor((event.clientY - box.top - kHeatTop) / rowHeight);
    return column >= 0 && column < axis.columns && row >= 0 && row < rows ? { column, row } : null;
  };
  const nearestCell = (event: MouseEvent): number => {
    const box = heatCanvas.current!.getBoundingClientRect();
    const column = Math.max(0, Math.min(axis.columns - 1, axis.columnAt(event.clientX - box.left)));
    const row = Math.max(0, Math.min(rows - 1, Math.floor((event.clientY - box.top - kHeatTop) / rowHeight)));
    return column * rows + row;
  };
  const rangeOf = (a: number, b: number): Range => [
    Math.round(axis.fromNs + Math.min(a, b) * rowNs),
    Math.round(axis.fromNs + (Math.max(a, b) + 1) * rowNs),
  ];
  const apply = (range: Range, base: boolean, step: boolean) => {
    if (base) compareWith(store, { file: state.file, range, threads: state.threads }, step);
    else select(store, range, step);
  };

  const onDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    if (!cellAt(event)) return;
    heatCanvas.current!.setPointerCapture(event.pointerId);
    drag.current = { from: nearestCell(event), base: event.ctrlKey || event.metaKey, moved: false };
  };
  const onMove = (event: PointerEvent) => {
    const current = drag.current;
    if (current) {
      const to = nearestCell(event);
      if (to !== current.from || current.moved) {
        current.moved = true;
        apply(rangeOf(current.from, to), current.base, false);
      }
    }
    const cell = cellAt(event);
    setHovered(cell);
    floating.showHint(cell ? { x: event.clientX, y: event.clientY, content: heatTip(axis, rows, heat.data, cell, lost, about.duration_ns, idleWho) } : null);
  };
  const onUp = (event: PointerEvent) => {
    const current = drag.current;
    drag.current = null;
    if (!current) return;
    const to = nearestCell(event);
    if (current.moved) {
      apply(rangeOf(current.from, to), current.base, true);
      armed.current = null;
    } else if (armed.current !== null && !current.base) {
      // The second of two clicks ends the range.
      apply(rangeOf(armed.current, to), false, true);
      armed.current = null;
    } else {
      apply(rangeOf(to, to), current.base, true);
      armed.current = current.base ? null : to;
    }
  };
  const leave = () => {
    setHovered(null);
    floating.showHint(null);
  };
  useEffect(() => {
    if (!state.range) armed.current = null;
  }, [state.range]);
  useEffect(() => {
    const canvas = heatCanvas.current!;
    const onWheel = (event: WheelEvent) => {
      if (event.ctrlKey) return; // the browser's own zoom
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const view = store.state.window;
        if (!view) return;
        const by = ((event.deltaX || event.deltaY) / axis.plotWidth) * (view[1] - view[0]);
        const from = Math.max(0, Math.min(about.duration_ns - (view[1] - view[0]), view[0] + by));
        store.update({ window: [Math.round(from), Math.round(from + view[1] - view[0])] }, false);
      } else {
        zoomWindow(store, event.deltaY > 0 ? 1.25 : 0.8, axis.timeAt(event.clientX - box.left));
      }
    };
    canvas.addEventListener('wheel', onWheel, { passive: false });
    return () => canvas.removeEventListener('wheel', onWheel);
  }, [axis, store, about]);

  return (
    <section class="panel time" ref={panel} aria-label="When">
      <div class="ph">
        <h2>When</h2>
        <Segments
          label="Colour of the heat map"
          value={state.mode}
          choices={[
            { value: 'samples', text: 'Samples' },
            { value: 'cause', text: 'Cause' },
          ]}
          choose={(mode) => store.update({ mode })}
        />
        <Legend mode={state.mode} heat={heat.data} searching={heat.data?.matched !== undefined} />
        {lost.length > 0 && <span class="dim small">hatched: samples were lost</span>}
        <div class="grow" />
        {state.window && (
          <button type="button" class="link" onClick={() => store.update({ window: null })}>
            Show all {duration(about.duration_ns)}
          </button>
        )}
        <span class="dim small">Column = {duration(axis.columnNs)}, row =</span>
        <select
          class="small"
          aria-label="Height of a row in time"
          value={state.cellMs}
          onChange={(event) => store.update({ cellMs: Number(event.currentTarget.value) })}
        >
          {kCellChoices.map((ms) => (
            <option value={ms}>{duration((axis.columnNs * ms) / 1000)}</option>
          ))}
        </select>
      </div>
      <canvas
        ref={heatCanvas}
        class="heat"
        tabIndex={0}
        role="img"
        data-testid="heat"
        data-rows={rows}
        data-row-height={rowHeight}
        data-columns={axis.columns}
        data-column-ns={axis.columnNs}
        data-from-ns={axis.fromNs}
        data-counted={heat.data ? heat.data.count.reduce((a, b) => a + b, 0) : ''}
        aria-label={`Heat map: ${count(about.accounting.shown)} samples by second and by offset in the second. Arrows move the selection, Shift and arrows its end.`}
        style={{ height: `${heatHeight(rows, rowHeight)}px` }}
        onPointerDown={onDown}
        onPointerMove={onMove}
        onPointerUp={onUp}
        onPointerLeave={leave}
        onDblClick={() => select(store, null)}
      />
      <div class="lanes" style={{ maxHeight: `${innerHeight < kShortWindow ? kMaxLaneArea / 2 : kMaxLaneArea}px` }}>
        <LaneCanvas picture={picture} canvas={laneCanvas} />
      </div>
      {heat.error && <p class="problem">{heat.error}</p>}
    </section>
  );
}

function LaneCanvas({ picture, canvas }: { picture: LanesPicture; canvas: { current: HTMLCanvasElement | null } }) {
  const store = useStore();
  const floating = useContext(FloatingContext);
  const { lanes, axis, tall, stalls } = picture;
  const drag = useRef<number | null>(null);

  const at = (event: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const x = event.clientX - box.left;
    return { lane: lanes[laneAt(lanes, tall, event.clientY - box.top)] as Lane | undefined, x, time: axis.timeAt(x) };
  };
  const stallAt = (lane: Lane, time: number) =>
    stalls.find((s) => lane.threads.includes(s.thread) && time >= s.from_ns - 2e7 && time <= s.to_ns + 2e7);
  const choose = (event: MouseEvent, lane: Lane) => {
    const { state } = store;
    if ((event.ctrlKey || event.metaKey) && state.threads.length > 0 && !isChosen(lane, state.threads)) {
      compareWith(store, { file: state.file, range: state.range, threads: lane.threads });
    } else if (event.shiftKey) {
      store.update({ threads: [...new Set([...state.threads, ...lane.threads])], zoom: 0 });
    } else {
      const only = isChosen(lane, state.threads) && state.threads.length === lane.threads.length;
      store.update({ threads: only ? [] : lane.threads, zoom: 0 });
    }
  };
  const clampTime = (time: number) => Math.max(0, Math.min(store.about.duration_ns, time));

  return (
    <>
      <canvas
        ref={canvas}
        data-testid="lanes"
        role="img"
        aria-label="CPU use, collections and stalls of each thread"
        style={{ height: `${lanesHeight(lanes, tall)}px` }}
        onPointerDown={(event) => {
          const { x, time } = at(event);
          if (x < kGutter || event.button !== 0) return;
          drag.current = time;
          canvas.current!.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          const { lane, x, time } = at(event);
          if (drag.current !== null && Math.abs(axis.xOf(drag.current) - x) > 3) {
            const [a, b] = [clampTime(drag.current), clampTime(time)];
            select(store, [Math.round(Math.min(a, b)), Math.round(Math.max(a, b) + 1)], false);
          }
          if (!lane) return floating.showHint(null);
          const stall = x >= kGutter ? stallAt(lane, time) : undefined;
          floating.showHint({
            x: event.clientX,
            y: event.clientY,
            content: (
              <>
                <div class="t">{plain(laneWords(picture, lane), 120)}</div>
                {x < kGutter ? <div class="dim">Click for this alone, Ctrl and click to compare</div> : <div>{clock(time, 2)}</div>}
                {stall && (
                  <div class="stall">
                    {duration(stall.to_ns - stall.from_ns)} stall: {plain(stall.name, 80)}
                  </div>
                )}
              </>
            ),
          });
        }}
        onPointerUp={(event) => {
          const { lane, x, time } = at(event);
          const dragged = drag.current !== null && Math.abs(axis.xOf(drag.current) - x) > 3;
          drag.current = null;
          if (dragged || !lane) return;
          if (x < kGutter) return choose(event, lane);
          const stall = stallAt(lane, time);
          if (stall) selectStall(store, stall);
        }}
        onPointerLeave={() => floating.showHint(null)}
      />
      <ul class="spoken" aria-label="Threads">
        {lanes.map((lane) => (
          <li key={`${lane.title}${lane.threads[0]}`}>
            <button type="button" aria-pressed={isChosen(lane, store.state.threads)} onClick={(event) => choose(event, lane)}>
              {laneWords(picture, lane)}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
