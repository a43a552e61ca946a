import { useContext, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { percent } from '../app/format';
import { useSize } from '../app/size';
import { FloatingContext } from '../app/store';
import { useTheme } from '../app/theme';
import { prepare } from '../draw/canvas';
import { FlameLayout } from '../draw/flame_layout';
import { drawIcicle, kIcicleRow, type Icicle, type IciclePart } from '../draw/icicle';
import { monoCharWidth } from '../views/FlameCanvas';
import type { HeapDominatorsReply } from '../wire/generated';
import { size } from './format';
import { boxOfObject, icicleOf } from './icicle_model';
import { dominatorsQuery, objectQuery } from './queries';
import { useHeap, useHeapStore } from './store';

const kSide = 16;

function words(tree: Icicle, box: number): string {
  const share = tree.total > 0 ? tree.width[box] / tree.total : 0;
  const fresh = tree.fresh ? `, ${percent(tree.fresh[box] / Math.max(1, tree.width[box]))} of it new` : '';
  return `${tree.labels[box]}, keeps ${tree.sizes[box]} alive, ${percent(share)}${fresh}`;
}

function BoxHint({ tree, box }: { tree: Icicle; box: number }) {
  return (
    <>
      <div class="t mono">{tree.labels[box]}</div>
      <table>
        <tbody>
          <tr>
            <td>Retained</td>
            <td>{tree.sizes[box]}</td>
            <td>{percent(tree.total > 0 ? tree.width[box] / tree.total : 0)}</td>
          </tr>
          {tree.fresh && (
            <tr>
              <td>New of that</td>
              <td>{size(tree.fresh[box])}</td>
              <td>{percent(tree.fresh[box] / Math.max(1, tree.width[box]))}</td>
            </tr>
          )}
        </tbody>
      </table>
    </>
  );
}

function Canvas({ reply }: { reply: HeapDominatorsReply }) {
  const store = useHeapStore();
  const theme = useTheme();
  const floating = useContext(FloatingContext);
  const wrap = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = useSize(wrap);
  const [hovered, setHovered] = useState<number | null>(null);
  const [focused, setFocused] = useState<number | null>(null);
  const layout = useMemo(() => new FlameLayout(icicleOf(reply)), [reply]);
  const { tree } = layout;
  const object = useHeap(store.state.object ? objectQuery(store) : null);
  const chosen = store.state.object && object.data ? boxOfObject(reply, object.data) : null;
  // Without a server all boxes are here already.
  const zoomed = store.engine.isWhole ? 0 : reply.id.findIndex((id) => id !== 0 && id === store.state.zoom);
  const zoom = Math.max(0, zoomed);
  const plot = Math.max(1, width - 2 * kSide);
  const rows = Math.max(1, Math.floor(height / kIcicleRow));

  useLayoutEffect(() => {
    if (width === 0) return;
    const g = prepare(canvas.current!, width, height);
    const part: IciclePart = { layout, zoom, x: kSide, width: plot, rows, charWidth: monoCharWidth(g, theme), hovered, focused, chosen };
    drawIcicle(g, theme, part);
  });

  const boxAt = (event: MouseEvent): number | null => {
    const bounds = canvas.current!.getBoundingClientRect();
    return layout.nodeAt(Math.floor((event.clientY - bounds.top) / kIcicleRow), zoom, event.clientX - bounds.left - kSide, plot);
  };
  const choose = (box: number) => {
    if (reply.id[box]) store.chooseObject(reply.id[box]);
    else store.chooseClass(reply.heap_class[box]);
  };
  const zoomTo = (box: number) => reply.id[box] && store.update({ zoom: box === 0 ? 0 : reply.id[box] });
  const focusOn = (box: number | null | undefined) => {
    if (box === null || box === undefined) return;
    setFocused(box);
    store.announce(words(tree, box));
  };
  const onKey = (event: KeyboardEvent) => {
    const at = focused ?? zoom;
    if (event.key === 'ArrowDown') focusOn(layout.children(at)[0]);
    else if (event.key === 'ArrowUp') focusOn(at === 0 ? 0 : tree.parent[at]);
    else if (event.key === 'ArrowRight') focusOn(layout.sibling(at, 1));
    else if (event.key === 'ArrowLeft') focusOn(layout.sibling(at, -1));
    else if (event.key === ' ') choose(at);
    else if (event.key === 'Enter') zoomTo(at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="icicle" ref={wrap}>
      <canvas
        ref={canvas}
        data-testid="dominators"
        data-boxes={reply.labels.length}
        data-chosen={chosen ?? ''}
        tabIndex={0}
        role="application"
        aria-label={`Dominators, ${size(tree.total)}. Arrows walk from box to box, Space chooses, Enter zooms.`}
        onKeyDown={onKey}
        onPointerMove={(event) => {
          const box = boxAt(event);
          if (box !== hovered) setHovered(box);
          floating.showHint(box === null ? null : { x: event.clientX, y: event.clientY, content: <BoxHint tree={tree} box={box} /> });
        }}
        onPointerLeave={() => {
          setHovered(null);
          floating.showHint(null);
        }}
        onClick={(event) => {
          const box = boxAt(event);
          if (box !== null) choose(box);
        }}
        onDblClick={(event) => {
          const box = boxAt(event);
          if (box !== null) zoomTo(box);
        }}
      />
    </div>
  );
}

export function DominatorsPanel() {
  const store = useHeapStore();
  const { data: reply, error } = useHeap(dominatorsQuery(store));
  return (
    <section class="panel dominators" aria-label="Dominators">
      <div class="ph">
        <h2>Dominators</h2>
        <span class="dim">width = what an object keeps alive</span>
        {store.state.zoom > 0 && (
          <button type="button" class="btn small" onClick={() => store.update({ zoom: 0 })}>
            Whole heap
          </button>
        )}
        <div class="grow" />
        {store.isComparison && (
          <span class="legend">
            there before
            <i class="growth" />
            new since
          </span>
        )}
      </div>
      {error && <p class="problem">{error}</p>}
      {reply && <Canvas key={store.state.zoom} reply={reply} />}
    </section>
  );
}
