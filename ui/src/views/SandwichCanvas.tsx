import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { showFunction } from '../app/actions';
import { paletteOf } from '../app/queries';
import { percent, plain, shortPlace, weight } from '../app/format';
import { useSize } from '../app/size';
import { FloatingContext, useChannel, useStore } from '../app/store';
import { useTheme } from '../app/theme';
import { prepare } from '../draw/canvas';
import { FlamePainter, type FlamePart } from '../draw/flame';
import { FlameLayout, kRowHeight } from '../draw/flame_layout';
import type { Sandwich } from '../wire/views';
import { boxMenu, BoxTip, boxWords } from './boxes';
import { kSide, monoCharWidth } from './FlameCanvas';
import { bringIntoSight } from './parts';
import { ScrolledCanvas } from './ScrolledCanvas';

const kCaption = 20;

interface Spot {
  half: 'callers' | 'callees';
  node: number;
}

// Callers above, nearest to the middle the nearest; the function; callees below.
export function SandwichCanvas({ sandwich }: { sandwich: Sandwich }) {
  const store = useStore();
  const theme = useTheme();
  const floating = useContext(FloatingContext);
  const lit = useChannel(floating.litKind);
  const wrap = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = useSize(wrap);
  const [scroll, setScroll] = useState(0);
  const [hovered, setHovered] = useState<Spot | null>(null);
  const [focused, setFocused] = useState<Spot | null>(null);
  const halves = useMemo(() => ({ callers: new FlameLayout(sandwich.callers), callees: new FlameLayout(sandwich.callees) }), [sandwich]);
  const plot = Math.max(1, width - 2 * kSide);
  const up = halves.callers.visibleDepth(0, plot, 0.4);
  const down = halves.callees.visibleDepth(0, plot, 0.4);
  const middle = kCaption + up * kRowHeight;
  const below = middle + kRowHeight + kCaption;
  const contentHeight = Math.max(height, below + down * kRowHeight + 8);

  const part = (half: Spot['half']): FlamePart => {
    const layout = halves[half];
    const depth = half === 'callers' ? up : down;
    return {
      layout,
      labels: sandwich.labels,
      zoom: 0,
      x: kSide,
      width: plot,
      rowY: (row) => (half === 'callers' ? middle - row * kRowHeight : row === 0 ? middle : below + (row - 1) * kRowHeight) - scroll,
      firstRow: half === 'callers' ? 0 : 1,
      lastRow: depth,
      hovered: hovered?.half === half ? hovered.node : null,
      focused: focused?.half === half ? focused.node : null,
      dimUnmatched: sandwich.labels.matched !== undefined,
      lit: lit?.name ?? null,
    };
  };

  useLayoutEffect(() => {
    if (width === 0) return;
    const g = prepare(canvas.current!, width, height);
    const painter = new FlamePainter(g, {
      theme,
      palette: paletteOf(store.state, store.about),
      root: store.about.app_root,
      rootName: plain(store.state.fn?.name ?? '', 300),
      rootPlace: `${plain(shortPlace(store.state.fn?.place ?? '', store.about.app_root), 300)}  ${weight(sandwich.total, sandwich.unit)}`,
      charWidth: monoCharWidth(g, theme),
    });
    painter.draw(part('callers'));
    painter.draw(part('callees'));
    g.font = `11px ${theme.get('sans')}`;
    g.fillStyle = theme.get('ink3');
    g.textAlign = 'left';
    g.fillText('Callers: who spends this time', kSide, 9 - scroll);
    const share = (value: number) => percent(sandwich.total > 0 ? value / sandwich.total : 0);
    g.fillText(`Callees: where it goes (${share(sandwich.self)} of it is its own)`, kSide, middle + kRowHeight + 10 - scroll);
    g.strokeStyle = theme.get('sel');
    g.lineWidth = 1.5;
    g.strokeRect(kSide - 1.25, middle - 1.25 - scroll, plot + 1.5, kRowHeight + 1.5);
  });
  useEffect(() => {
    if (wrap.current) wrap.current.scrollTop = Math.max(0, middle - height / 2);
    setHovered(null);
    setFocused(null);
  }, [sandwich, height > 0]);

  const spotAt = (event: MouseEvent): Spot | null => {
    const box = canvas.current!.getBoundingClientRect();
    const y = event.clientY - box.top + scroll;
    const x = event.clientX - box.left - kSide;
    const half = y < middle + kRowHeight ? 'callers' : 'callees';
    const row = half === 'callers' ? Math.ceil((middle - y) / kRowHeight) : Math.floor((y - below) / kRowHeight) + 1;
    if (half === 'callees' && row < 1) return null;
    const node = halves[half].nodeAt(row, 0, x, plot);
    return node === null ? null : { half, node };
  };
  const names = (spot: Spot): [string, string] => {
    const label = halves[spot.half].tree.label[spot.node];
    return [sandwich.labels.names[label], sandwich.labels.places[label]];
  };

  const yOf = ({ half, node }: Spot) => part(half).rowY(halves[half].tree.nodeDepth[node]) + scroll;
  const focusOn = (spot: Spot | null) => {
    if (!spot) return;
    setFocused(spot);
    store.announce(boxWords(halves[spot.half], sandwich.labels, spot.node, sandwich.total, sandwich.unit));
    const y = spot.node === 0 ? middle : yOf(spot);
    bringIntoSight(wrap.current!, y, y + kRowHeight);
  };
  // Away from the function in the middle, or back to it.
  const walk = (at: Spot, half: Spot['half']): Spot | null => {
    const layout = halves[half];
    if (at.node !== 0 && at.half !== half) return { half: at.half, node: halves[at.half].tree.parent[at.node] };
    const next = layout.children(at.node).sort((a, b) => layout.tree.nodeTotal[b] - layout.tree.nodeTotal[a])[0];
    return next === undefined ? null : { half, node: next };
  };
  const beside = (at: Spot, by: 1 | -1): Spot | null => {
    const node = at.node === 0 ? null : halves[at.half].sibling(at.node, by);
    return node === null || node === undefined ? null : { half: at.half, node };
  };
  const onKey = (event: KeyboardEvent) => {
    const at = focused ?? { half: 'callers' as const, node: 0 };
    if (event.key === 'ArrowUp') focusOn(walk(at, 'callers'));
    else if (event.key === 'ArrowDown') focusOn(walk(at, 'callees'));
    else if (event.key === 'ArrowRight') focusOn(beside(at, 1));
    else if (event.key === 'ArrowLeft') focusOn(beside(at, -1));
    else if (event.key === 'Enter' && at.node !== 0) showFunction(store, ...names(at));
    else if (event.key === 'ContextMenu' || (event.shiftKey && event.key === 'F10')) {
      const box = canvas.current!.getBoundingClientRect();
      const y = at.node === 0 ? middle : yOf(at);
      floating.showMenu(boxMenu(store, halves[at.half], sandwich.labels, at.node, box.left + 60, box.top + y - scroll));
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
      data-testid="sandwich"
      tabIndex={0}
      role="application"
      aria-label={`Callers and callees of ${plain(store.state.fn?.name ?? '', 200)}. Arrows walk from function to function, Enter shows those of another.`}
      onKeyDown={onKey}
      onPointerMove={(event) => {
        const spot = spotAt(event);
        setHovered(spot);
        floating.showHint(
          spot && {
            x: event.clientX,
            y: event.clientY,
            content: <BoxTip layout={halves[spot.half]} labels={sandwich.labels} node={spot.node} total={sandwich.total} unit={sandwich.unit} rootName={plain(store.state.fn?.name ?? '', 600)} />,
          },
        );
      }}
      onPointerLeave={() => {
        setHovered(null);
        floating.showHint(null);
      }}
      onClick={(event) => {
        const spot = spotAt(event);
        if (spot && spot.node !== 0) showFunction(store, ...names(spot));
      }}
      onContextMenu={(event) => {
        const spot = spotAt(event);
        if (!spot) return;
        event.preventDefault();
        floating.showHint(null);
        floating.showMenu(boxMenu(store, halves[spot.half], sandwich.labels, spot.node, event.clientX, event.clientY));
      }}
    />
  );
}
