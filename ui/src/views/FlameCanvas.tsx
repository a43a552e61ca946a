import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { showFunction } from '../app/actions';
import { plain, weight } from '../app/format';
import { chartThread, paletteOf } from '../app/queries';
import { useSize } from '../app/size';
import { FloatingContext, useChannel, useStore } from '../app/store';
import { useTheme } from '../app/theme';
import { prepare } from '../draw/canvas';
import { FlamePainter, type FlamePart } from '../draw/flame';
import { kRowHeight, type FlameLayout } from '../draw/flame_layout';
import type { Theme } from '../draw/palette';
import type { About, Flame } from '../wire/views';
import { boxMenu, BoxTip, boxWords } from './boxes';
import { bringIntoSight } from './parts';
import { ScrolledCanvas } from './ScrolledCanvas';

export const kSide = 16;
const kLeastSeen = 4; // pixels

export function monoCharWidth(g: CanvasRenderingContext2D, theme: Theme): number {
  g.font = `11px ${theme.get('mono')}`;
  return g.measureText('abcdefghij').width / 10;
}

function threadWords(about: About, thread: number): string {
  const { name, tid } = about.threads[thread] ?? { name: '', tid: 0 };
  return plain([name, tid || ''].filter(Boolean).join(' '), 40) || 'samples';
}

export function FlameCanvas({ flame, layout }: { flame: Flame; layout: FlameLayout }) {
  const store = useStore();
  const theme = useTheme();
  const floating = useContext(FloatingContext);
  const { state, about } = store;
  const wrap = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = useSize(wrap);
  const [scroll, setScroll] = useState(0);
  const [hovered, setHovered] = useState<number | null>(null);
  const beforeSearch = useRef<number | null>(null); // how far it was scrolled
  const lit = useChannel(floating.litKind);
  const [focused, setFocused] = useState<number | null>(null);
  const zoom = state.zoom < layout.tree.parent.length ? state.zoom : 0;
  const plot = Math.max(1, width - 2 * kSide);
  const depth = layout.visibleDepth(zoom, plot, 0.4);
  const contentHeight = Math.max(height, (depth + 1) * kRowHeight + 8);
  const isChart = state.view === 'chart';
  const threads = isChart ? chartThread(state, about) : state.threads;
  const rootName = threads.length > 0 ? threads.slice(0, 3).map((i) => threadWords(about, i)).join(', ') : 'all threads';

  const top = (row: number) => (state.icicle ? row * kRowHeight : contentHeight - (row + 1) * kRowHeight);
  const rowAt = (y: number) => (state.icicle ? Math.floor(y / kRowHeight) : Math.floor((contentHeight - y) / kRowHeight));
  const rowsInSight = [rowAt(scroll), rowAt(scroll + height)].sort((a, b) => a - b);
  const part: FlamePart = {
    layout,
    labels: flame.labels,
    zoom,
    x: kSide,
    width: plot,
    rowY: (row) => top(row) - scroll,
    firstRow: Math.max(0, rowsInSight[0] - 1),
    lastRow: Math.min(depth, rowsInSight[1] + 1),
    hovered,
    focused,
    dimUnmatched: flame.labels.matched !== undefined,
    lit: flame.tree.beforeTotal ? null : (lit?.name ?? null),
  };

  useLayoutEffect(() => {
    if (width === 0) return;
    const g = prepare(canvas.current!, width, height);
    if (flame.tree.total === 0) {
      g.fillStyle = theme.get('ink2');
      g.font = `13px ${theme.get('sans')}`;
      g.textAlign = 'center';
      g.fillText(about.accounting.taken === 0 ? 'No samples: nothing was recorded.' : 'No samples here.', width / 2, 48);
      return;
    }
    const painter = new FlamePainter(g, {
      theme,
      palette: paletteOf(state, about),
      root: about.app_root,
      rootName,
      rootPlace: isChart ? `${weight(flame.tree.total, flame.unit)} on the CPU, in the order of time` : weight(flame.tree.total, flame.unit),
      charWidth: monoCharWidth(g, theme),
    });
    painter.draw(part);
  });
  useEffect(() => {
    setHovered(null);
    setFocused(null);
  }, [flame]);
  useEffect(() => {
    if (!state.icicle && wrap.current) wrap.current.scrollTop = contentHeight;
  }, [state.icicle, flame, zoom]);
  // A search whose matches are all out of sight would seem to find nothing.
  useEffect(() => {
    const { matched } = flame.labels;
    const view = wrap.current!;
    if (height === 0) return;
    if (!matched) {
      if (beforeSearch.current !== null) view.scrollTop = beforeSearch.current;
      beforeSearch.current = null;
      return;
    }
    const found = layout.widestOfRows(zoom, plot, kLeastSeen, (node) => matched[layout.tree.label[node]] !== 0);
    const isSeen = ({ row }: { row: number }) => top(row) >= view.scrollTop && top(row) + kRowHeight <= view.scrollTop + height;
    if (found.length === 0 || found.some(isSeen)) return;
    const { row } = found.reduce((best, one) => (one.width > best.width ? one : best));
    beforeSearch.current ??= view.scrollTop;
    view.scrollTop = top(row) - (state.icicle ? 2 * kRowHeight : height - 3 * kRowHeight);
  }, [flame.labels, height > 0]);

  const nodeAt = (event: MouseEvent): number | null => {
    const box = canvas.current!.getBoundingClientRect();
    return layout.nodeAt(rowAt(event.clientY - box.top + scroll), zoom, event.clientX - box.left - kSide, plot);
  };
  const zoomTo = (node: number) => store.update({ zoom: node });
  const tip = (event: MouseEvent, node: number) =>
    floating.showHint({
      x: event.clientX,
      y: event.clientY,
      content: <BoxTip layout={layout} labels={flame.labels} node={node} total={flame.tree.total} unit={flame.unit} rootName={rootName} />,
    });

  const focusOn = (node: number | null | undefined) => {
    if (node === null || node === undefined) return;
    setFocused(node);
    store.announce(boxWords(layout, flame.labels, node, flame.tree.total, flame.unit));
    const y = top(layout.tree.nodeDepth[node]);
    bringIntoSight(wrap.current!, y, y + kRowHeight);
  };
  const onKey = (event: KeyboardEvent) => {
    const at = focused ?? zoom;
    const outward = state.icicle ? 'ArrowUp' : 'ArrowDown';
    const inward = state.icicle ? 'ArrowDown' : 'ArrowUp';
    if (event.key === inward) {
      const children = layout.children(at);
      focusOn(children.sort((a, b) => layout.tree.nodeTotal[b] - layout.tree.nodeTotal[a])[0]);
    } else if (event.key === outward) focusOn(at === 0 ? 0 : layout.tree.parent[at]);
    else if (event.key === 'ArrowRight') focusOn(layout.sibling(at, 1));
    else if (event.key === 'ArrowLeft') focusOn(layout.sibling(at, -1));
    else if (event.key === 'Enter') zoomTo(at);
    else if (event.key === 's') showFunction(store, flame.labels.names[layout.tree.label[at]], flame.labels.places[layout.tree.label[at]]);
    else if (event.key === 'ContextMenu' || (event.shiftKey && event.key === 'F10')) {
      const box = canvas.current!.getBoundingClientRect();
      floating.showMenu(boxMenu(store, layout, flame.labels, at, box.left + 60, box.top + top(layout.tree.nodeDepth[at]) - scroll, () => zoomTo(at)));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <ScrolledCanvas
      wrap={wrap}
      canvas={canvas}
      contentHeight={contentHeight}
      scrolled={setScroll}
      data-testid="flame"
      data-boxes={layout.tree.parent.length}
      tabIndex={0}
      role="application"
      aria-label={`Flame graph, ${weight(flame.tree.total, flame.unit)}. Arrows walk from function to function, Enter zooms.`}
      onKeyDown={onKey}
      onPointerMove={(event) => {
        const node = nodeAt(event);
        if (node !== hovered) setHovered(node);
        if (node === null) floating.showHint(null);
        else tip(event, node);
      }}
      onPointerLeave={() => {
        setHovered(null);
        floating.showHint(null);
      }}
      onClick={(event) => {
        const node = nodeAt(event);
        if (node !== null && node !== zoom) zoomTo(node);
      }}
      onDblClick={(event) => {
        const node = nodeAt(event);
        if (node) showFunction(store, flame.labels.names[layout.tree.label[node]], flame.labels.places[layout.tree.label[node]]);
      }}
      onContextMenu={(event) => {
        const node = nodeAt(event);
        if (!node) return;
        event.preventDefault();
        floating.showHint(null);
        floating.showMenu(boxMenu(store, layout, flame.labels, node, event.clientX, event.clientY, () => zoomTo(node)));
      }}
    />
  );
}
