import { useEffect, useRef, useState } from 'preact/hooks';
import { actionOfGroup, showFunction } from '../app/actions';
import { count, percent, plain, shortName, shortPlace, weight } from '../app/format';
import { tableQuery, useEngine } from '../app/queries';
import { useSize } from '../app/size';
import type { Grouping, SortKey } from '../app/state';
import { useStore } from '../app/store';
import { kindOfOrigin, kKindWords } from '../draw/palette';
import { asItIs } from '../wire/decode';
import type { Table } from '../wire/views';
import { bringIntoSight, useOneStop } from './parts';

const kGroups: [Grouping, string][] = [
  ['function', 'Functions'],
  ['file', 'Files'],
  ['package', 'Packages'],
  ['module', 'Modules'],
  ['kind', 'Kinds'],
  ['process', 'Processes'],
  ['thread', 'Threads'],
];
const kRowHeight = 24;
const kNameRoom = 30; // characters of a function's name in the narrowest list

function difference(table: Table, row: number, totals: boolean): number {
  return (totals ? table.totals[row] - table.before_totals![row] : table.self[row] - table.before_self![row]);
}

function changeOf(table: Table, row: number, totals: boolean): string {
  const points = table.total > 0 ? (difference(table, row, totals) / table.total) * 100 : 0;
  return `${points > 0 ? '+' : points < 0 ? '−' : '±'}${Math.abs(points).toFixed(1)}`;
}

function Row({ table, row, most, isStop }: { table: Table; row: number; most: number; isStop: boolean }) {
  const store = useStore();
  const { state, about } = store;
  const name = table.names[row];
  const place = table.places[row] ?? '';
  const isCurrent = state.fn?.name === name && state.fn?.place === place;
  const share = (value: number) => (table.total > 0 ? value / table.total : 0);
  const choose = state.group === 'function' ? () => showFunction(store, name, place) : actionOfGroup(store, state.group, table, row);
  const kind = state.group === 'function' ? kindOfOrigin(table.origin[row]) : null;
  const isComparison = table.before_self !== undefined;
  const bar = isComparison ? difference(table, row, state.sort === 'total') : table.self[row];
  const was = isComparison ? `before: self ${weight(table.before_self![row], table.unit)}, total ${weight(table.before_totals![row], table.unit)}` : '';
  return (
    <button
      type="button"
      class="tr"
      data-row={row}
      tabIndex={isStop ? 0 : -1}
      aria-current={isCurrent}
      aria-disabled={!choose}
      title={[plain(`${name}  ${place}`, 600), kind && kKindWords[kind], `self ${weight(table.self[row], table.unit)}, total ${weight(table.totals[row], table.unit)}`, was].filter(Boolean).join('\n')}
      onClick={choose}
    >
      <span class="v self">
        <i class={!isComparison ? '' : bar > 0 ? 'more' : 'less'} style={{ width: `${most > 0 ? (Math.abs(bar) / most) * 74 : 0}px` }} />
        <em class={table.self[row] > 0 ? '' : 'zero'}>{isComparison ? changeOf(table, row, false) : percent(share(table.self[row]))}</em>
      </span>
      <span class="v">{isComparison ? changeOf(table, row, true) : percent(share(table.totals[row]))}</span>
      <span class="f">
        <i class="sw" style={{ background: `var(--k-${kind ?? 'loop'})` }} />
        <span class="nm mono">{plain(state.group === 'file' ? shortPlace(name, about.app_root) : shortName(name, kNameRoom), 300)}</span>
        <span class="lc">{plain(shortPlace(place, about.app_root), 300)}</span>
      </span>
    </button>
  );
}

// Only the rows in sight are in the document.
function Rows({ table }: { table: Table }) {
  const store = useStore();
  const list = useRef<HTMLDivElement>(null);
  const { height } = useSize(list);
  const [top, setTop] = useState(0);
  useEffect(() => {
    list.current!.scrollTop = 0;
  }, [table]);
  const first = Math.max(0, Math.floor(top / kRowHeight) - 4);
  const last = Math.min(table.names.length, Math.ceil((top + height) / kRowHeight) + 4);
  const byTotal = store.state.sort === 'total';
  const most = table.before_self
    ? table.self.reduce((largest, _, i) => Math.max(largest, Math.abs(difference(table, i, byTotal))), 0)
    : table.self.reduce((a, b) => Math.max(a, b), 0);
  const bring = (row: number) => bringIntoSight(list.current!, row * kRowHeight, (row + 1) * kRowHeight);
  const { row: focused, ...keys } = useOneStop(table.names.length, bring);
  const stop = Math.max(first, Math.min(last - 1, focused));
  const rows = [];
  for (let i = first; i < last; i++) rows.push(<Row key={i} table={table} row={i} most={most} isStop={i === stop} />);
  return (
    <div class="list" ref={list} data-testid="functions" onScroll={(event) => setTop(event.currentTarget.scrollTop)} {...keys}>
      <div style={{ height: `${table.names.length * kRowHeight}px`, paddingTop: `${first * kRowHeight}px` }}>{rows}</div>
    </div>
  );
}

// The largest first and names from A to Z; the other way round when it is pressed again.
function SortButton({ by, text }: { by: SortKey; text: string }) {
  const store = useStore();
  const { sort, sortReversed } = store.state;
  const on = sort === by;
  const isAscending = (by === 'name') !== sortReversed;
  return (
    <button
      type="button"
      aria-sort={!on ? 'none' : isAscending ? 'ascending' : 'descending'}
      class={on ? 'on' : ''}
      onClick={() => store.update({ sort: by, sortReversed: on && !sortReversed }, false)}
    >
      {text}
      {!on ? '' : isAscending ? ' ↑' : ' ↓'}
    </button>
  );
}

export function FunctionsPanel() {
  const store = useStore();
  const { state } = store;
  const { data: table, error } = useEngine(tableQuery(state), asItIs);
  return (
    <section class="panel side" aria-label="Functions">
      <div class="ph">
        <select
          class="title"
          aria-label="What to list"
          value={state.group}
          onChange={(event) => store.update({ group: event.currentTarget.value as Grouping, filter: '' })}
        >
          {kGroups.map(([value, text]) => (
            <option value={value}>{text}</option>
          ))}
        </select>
        <span class="dim">{table ? count(table.rows_count) : ''}</span>
        <div class="grow" />
        <input
          class="filter"
          placeholder="Filter"
          aria-label="Filter the list, a regular expression"
          spellcheck={false}
          value={state.filter}
          onInput={(event) => store.update({ filter: event.currentTarget.value }, false)}
        />
      </div>
      <div class="th">
        <SortButton by="self" text={state.base ? 'Self, pts' : 'Self'} />
        <SortButton by="total" text={state.base ? 'Total, pts' : 'Total'} />
        <SortButton by="name" text="Name" />
      </div>
      {error && <p class="problem">{error}</p>}
      {table && <Rows table={table} />}
    </section>
  );
}
