import { useContext, useMemo, useRef, useState } from 'preact/hooks';
import { showFunction, stepOut } from '../app/actions';
import { clock, duration, percent, plain, shortName, weight } from '../app/format';
import { causesQuery, flameQuery, paletteOf, sandwichQuery, useEngine } from '../app/queries';
import type { Palette, Range, WhyView } from '../app/state';
import { FloatingContext, useStore, type Store } from '../app/store';
import { FlameLayout } from '../draw/flame_layout';
import { kCauseWords, kKindWords, type KindName } from '../draw/palette';
import { decodeCauses, decodeFlame, decodeSandwich } from '../wire/decode';
import { kCauses, type Causes, type Flame } from '../wire/views';
import { FlameCanvas } from './FlameCanvas';
import { Key, Segments, Swatch } from './parts';
import { SandwichCanvas } from './SandwichCanvas';
import { SourceView } from './SourceView';
import { Suggestions } from './Suggestions';

const kCauseOrder = ['js', 'native', 'kernel', 'gc', 'compile', 'regexp', 'waiting', 'other', 'idle'] as const;

function rangeWords(range: Range): string {
  return `${clock(range[0], 2)} – ${clock(range[1], 2)}`;
}

// "against 00:05.00 – 00:06.50", "against before.nscope", "against node 4132".
function baselineWords({ state, files, about }: Store): string {
  const { base } = state;
  if (!base) return '';
  if (base.file !== state.file) return `against ${plain(files[base.file].name, 40)}`;
  const thread = about.threads[base.threads[0]];
  const who = thread ? plain(`${thread.name} ${thread.tid}`.trim(), 30) : '';
  const when = base.range ? rangeWords(base.range) : 'the whole recording';
  return `against ${[when, who].filter(Boolean).join(' of ')}`;
}

function CauseBar({ causes }: { causes: Causes }) {
  const { litCause } = useContext(FloatingContext);
  const present = kCauseOrder.map((cause) => ({ cause, value: causes.by[kCauses.indexOf(cause)] })).filter(({ value }) => value > 0);
  return (
    <>
      <div class="legend causes" data-testid="causes">
        {present.map(({ cause, value }) => (
          <Key key={cause} name={cause} lit={litCause}>
            <Swatch token={`m-${cause}`} /> {kCauseWords[cause]} <b>{percent(value / causes.total)}</b>
          </Key>
        ))}
      </div>
      <div class="causebar" aria-hidden="true">
        {present.map(({ cause, value }) => (
          <i key={cause} style={{ flex: `${value / causes.total} 0 0`, background: `var(--m-${cause})` }} />
        ))}
      </div>
    </>
  );
}

// A panel cuts off what leaves it, and may be small.
function keepInSight(menu: HTMLElement | null): void {
  if (!menu) return;
  const { right, bottom } = menu.parentElement!.getBoundingClientRect();
  menu.style.position = 'fixed';
  menu.style.right = `${document.documentElement.clientWidth - right}px`;
  menu.style.top = `${Math.max(8, Math.min(bottom + 6, innerHeight - menu.offsetHeight - 8))}px`;
}

function Options() {
  const store = useStore();
  const { state } = store;
  const [open, setOpen] = useState(false);
  type Flag = 'icicle' | 'reversed' | 'fold' | 'awaiters' | 'byThread' | 'tiers' | 'recursion' | 'absolute' | 'vanished';
  const ofComparison: [Flag, string, string][] = [
    ['absolute', 'Absolute: do not scale the baseline', ''],
    ['vanished', 'Draw what vanished', ''],
  ];
  const flags: [Flag, string, string][] = [
    ['icicle', 'Root on top', 'I'],
    ['reversed', 'Reversed: callers above callees', 'R'],
    ['fold', 'Fold event loop and call stubs', 'L'],
    ...(store.about.facts['asynchronous callers'] ? [['awaiters', 'Asynchronous callers', ''] as [Flag, string, string]] : []),
    ['byThread', 'Split by thread', 'P'],
    ['tiers', 'Split by tier', ''],
    ['recursion', 'Collapse recursion', ''],
    ...(state.base ? ofComparison : []),
  ];
  return (
    <div class="options" onKeyDown={(event) => event.key === 'Escape' && open && (event.stopPropagation(), setOpen(false))}>
      <button type="button" class="btn small" aria-expanded={open} onClick={() => setOpen(!open)}>
        Options
      </button>
      {open && (
        <div class="menu popover" role="group" aria-label="Options of the flame graph" ref={keepInSight}>
          {flags.map(([flag, text, key]) => (
            <label key={flag}>
              <input type="checkbox" checked={state[flag]} onChange={() => store.update({ [flag]: !state[flag], zoom: 0 })} />
              {text}
              {key && <kbd>{key}</kbd>}
            </label>
          ))}
          <label>
            Colour by
            <select value={paletteOf(state, store.about)} onChange={(event) => store.update({ palette: event.currentTarget.value as Palette })}>
              <option value="kind">kind and tier</option>
              <option value="package">package or file</option>
              <option value="name">name</option>
            </select>
          </label>
          <button type="button" onClick={() => setOpen(false)}>
            Close
          </button>
        </div>
      )}
    </div>
  );
}

// What is left out or zoomed into, each with its way back.
function Crumbs({ flame, layout }: { flame: Flame | null; layout: FlameLayout | null }) {
  const store = useStore();
  const { state } = store;
  const chips: { text: string; undo: () => void }[] = [
    ...state.include.map((p, i) => ({ text: `focus ${p}`, undo: () => store.update({ include: state.include.filter((_, k) => k !== i), zoom: 0 }) })),
    ...state.exclude.map((p, i) => ({ text: `hidden ${p}`, undo: () => store.update({ exclude: state.exclude.filter((_, k) => k !== i), zoom: 0 }) })),
  ];
  const path = layout && flame && state.zoom > 0 && state.zoom < layout.tree.parent.length ? layout.path(state.zoom) : [];
  if (chips.length === 0 && path.length === 0) return null;
  return (
    <nav class="crumbs" aria-label="Zoomed to">
      {chips.map(({ text, undo }) => (
        <button type="button" class="chip" key={text} title="Remove" onClick={undo}>
          {plain(text, 80)} ×
        </button>
      ))}
      {path.map((node, i) => (
        <button type="button" key={node} aria-current={i === path.length - 1} onClick={() => store.update({ zoom: node })}>
          {i === 0 ? 'all' : plain(shortName(flame!.labels.names[layout!.tree.label[node]], 40), 48)}
        </button>
      ))}
      {path.length > 0 && (
        <button type="button" class="chip" onClick={() => stepOut(store)}>
          Zoom out
        </button>
      )}
    </nav>
  );
}

function Legend({ isComparison }: { isComparison: boolean }) {
  const { about, state } = useStore();
  const { litKind } = useContext(FloatingContext);
  if (isComparison) {
    return (
      <div class="foot">
        <span>
          <Swatch token="d-more" /> more than in the baseline
        </span>
        <span>
          <i class="sw less" /> less
        </span>
        <span>
          <i class="sw same" /> the same
        </span>
        <span class="dim">
          Numbers in boxes are percentage points of all samples{state.absolute ? '' : "; the baseline is scaled to the selection's sum"}.
          {state.vanished ? ' A box is as wide as both sides together.' : ' What vanished has no box: see Options.'}
        </span>
      </div>
    );
  }
  if (paletteOf(state, about) !== 'kind') return null;
  const kinds: KindName[] = ['app', 'node', 'builtin', 'native', 'kernel', 'gc', 'compile', 'regexp', 'waiting', 'unknown'];
  return (
    <div class="foot">
      {kinds.map((kind) => (
        <Key key={kind} name={kind} lit={litKind}>
          <i class={kind === 'unknown' ? 'sw hatch' : 'sw'} style={{ background: kind === 'unknown' ? undefined : `var(--k-${kind})` }} />
          {kKindWords[kind]}
        </Key>
      ))}
      <i class="sep" />
      <span>
        <i class="sw" style={{ background: 'var(--k-app)' }} /> optimised
      </span>
      <span>
        <i class="sw" style={{ background: 'var(--k-app-base)' }} /> baseline
      </span>
      <span>
        <i class="sw interpreted" /> interpreted
      </span>
      <span>
        <i class="sw inlined" /> inlined
      </span>
    </div>
  );
}

function Picture() {
  const store = useStore();
  const { state, about } = store;
  const flame = useEngine(flameQuery(state, about), decodeFlame);
  const layout = useMemo(() => (flame.data ? new FlameLayout(flame.data.tree) : null), [flame.data]);
  return (
    <>
      <Crumbs flame={flame.data} layout={layout} />
      {flame.error && <p class="problem">{flame.error}</p>}
      {flame.data && layout && <FlameCanvas flame={flame.data} layout={layout} />}
      <Legend isComparison={flame.data?.tree.beforeTotal !== undefined} />
    </>
  );
}

function Sandwich() {
  const store = useStore();
  const { state } = store;
  const sandwich = useEngine(sandwichQuery(state), decodeSandwich);
  if (!state.fn) {
    return <Suggestions words="Who calls a function, and what it calls. Choose one here, in the list, or by a double click on a box:" choose={(name, place) => showFunction(store, name, place)} />;
  }
  return (
    <>
      {sandwich.error && <p class="problem">{sandwich.error}</p>}
      {sandwich.data && <SandwichCanvas sandwich={sandwich.data} />}
      <Legend isComparison={false} />
    </>
  );
}

export function WhyPanel() {
  const store = useStore();
  const floating = useContext(FloatingContext);
  const panel = useRef<HTMLElement>(null);
  const { state, about } = store;
  const { data: causes } = useEngine(causesQuery(state), decodeCauses);
  const length = state.range ? state.range[1] - state.range[0] : about.duration_ns;
  return (
    <section class="panel why" ref={panel} aria-label="Why" onPointerLeave={() => floating.showHint(null)}>
      <div class="ph">
        <Segments<WhyView>
          label="View"
          value={state.view}
          choices={[
            { value: 'flame', text: 'Flame graph', title: 'Merged stacks (1)' },
            { value: 'chart', text: 'Flame chart', title: 'One thread in the order of time (2)' },
            { value: 'sandwich', text: 'Sandwich', title: 'Callers and callees of a function (3)' },
            { value: 'source', text: 'Source', title: 'Samples by line (4)' },
          ]}
          choose={(view) => store.update({ view, zoom: 0 })}
        />
        <span class="selinfo" data-testid="selection">
          <b>{state.range ? rangeWords(state.range) : 'Whole recording'}</b>
          {about.has_times ? ` · ${duration(length)}` : about.accounting.taken > 1 ? ' · its samples have no times' : ''} · {causes && weight(causes.total, causes.unit)} {baselineWords(store)}
        </span>
        <div class="grow" />
        <Options />
      </div>
      {causes && about.kinds_known && <CauseBar causes={causes} />}
      {state.view === 'sandwich' ? <Sandwich /> : state.view === 'source' ? <SourceView /> : <Picture />}
    </section>
  );
}
