import { useEffect, useRef, useState } from 'preact/hooks';
import { count, plain } from '../app/format';
import { useSize } from '../app/size';
import { bringIntoSight, useOneStop } from '../views/parts';
import type { HeapClassesReply } from '../wire/generated';
import { classRows, kGone } from './class_rows';
import { signedCount, signedSize, size } from './format';
import { chosenClass, kClassesQuery, objectQuery } from './queries';
import type { HeapSort } from './state';
import { useHeap, useHeapStore } from './store';

const kRowHeight = 26;

interface Header {
  sort: HeapSort | null;
  text: string;
}

const kSingle: Header[] = [
  { sort: 'name', text: 'Class' },
  { sort: 'count', text: 'Objects' },
  { sort: 'shallow', text: 'Own size' },
  { sort: 'retained', text: 'Retained' },
  { sort: null, text: 'Largest held by' },
];
const kComparison: Header[] = [
  { sort: 'name', text: 'Class' },
  { sort: 'before', text: 'Before' },
  { sort: 'count', text: 'After' },
  { sort: 'added', text: 'New' },
  { sort: 'shallow', text: 'Own size' },
  { sort: 'retained', text: 'Retained' },
  { sort: null, text: 'Largest held by' },
];

function HeaderCell({ sort, text }: Header) {
  const store = useHeapStore();
  const { state } = store;
  if (!sort) return <span>{text}</span>;
  const on = state.sort === sort;
  const isAscending = (sort === 'name') !== state.sortReversed;
  return (
    <button
      type="button"
      class={on ? 'on' : ''}
      aria-sort={!on ? 'none' : isAscending ? 'ascending' : 'descending'}
      onClick={() => store.update({ sort, sortReversed: on && !state.sortReversed }, false)}
    >
      {text}
      {!on ? '' : isAscending ? ' ↑' : ' ↓'}
    </button>
  );
}

function Bar({ value, most }: { value: number; most: number }) {
  const width = most > 0 ? Math.max(value === 0 ? 0 : 1.5, (Math.abs(value) / most) * 100) : 0;
  return <i class={value < 0 ? 'less' : ''} style={{ width: `${width}%` }} />;
}

function Row({ reply, row, most, isCurrent, isStop, place }: {
  reply: HeapClassesReply;
  row: number;
  most: number;
  isCurrent: boolean;
  isStop: boolean;
  place: number;
}) {
  const store = useHeapStore();
  const heapClass = reply.heap_class[row];
  const isGone = heapClass === kGone;
  const held = plain(reply.held[row] ?? '', 200);
  const name = plain(reply.names[row], 300);
  return (
    <button
      type="button"
      class="tr"
      data-row={place}
      tabIndex={isStop ? 0 : -1}
      aria-current={isCurrent}
      aria-disabled={isGone}
      title={`${name}\n${count(reply.count[row])} objects, ${size(reply.shallow[row])}, with what they retain ${size(reply.retained[row])}${held ? `\n${held}` : ''}`}
      onClick={() => !isGone && store.chooseClass(heapClass)}
    >
      <span class="mono nm">{name}</span>
      {reply.before_count && <span class="num">{count(reply.before_count[row])}</span>}
      <span class="num">{count(reply.count[row])}</span>
      {reply.added && <span class={reply.added[row] ? 'num' : 'num zero'}>{count(reply.added[row])}</span>}
      <span class="num" title={reply.shallow_delta ? signedCount(reply.added![row] - reply.removed![row]) : undefined}>
        {reply.shallow_delta ? signedSize(reply.shallow_delta[row]) : size(reply.shallow[row])}
      </span>
      <span class="gb">
        <span class="num">{reply.retained_delta ? signedSize(reply.retained_delta[row]) : size(reply.retained[row])}</span>
        <Bar value={reply.retained_delta ? reply.retained_delta[row] : reply.retained[row]} most={most} />
      </span>
      <span class="mono dim">{held}</span>
    </button>
  );
}

function Rows({ reply }: { reply: HeapClassesReply }) {
  const store = useHeapStore();
  const { state } = store;
  const list = useRef<HTMLDivElement>(null);
  const { height } = useSize(list);
  const [top, setTop] = useState(0);
  const bring = (row: number) => bringIntoSight(list.current!, row * kRowHeight, (row + 1) * kRowHeight);
  const rows = classRows(reply, state.filter, state.sort, state.sortReversed);
  const object = useHeap(state.object ? objectQuery(store) : null);
  const current = state.object && object.data ? object.data.heap_class : chosenClass(store, reply.heap_class[0]);
  useEffect(() => {
    list.current!.scrollTop = 0;
  }, [reply, state.filter, state.sort, state.sortReversed]);
  const place = rows.findIndex((row) => reply.heap_class[row] === current);
  useEffect(() => {
    if (place >= 0 && height > 0) bring(place);
  }, [current, height > 0]);
  const most = (reply.retained_delta ?? reply.retained).reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  const first = Math.max(0, Math.floor(top / kRowHeight) - 4);
  const last = Math.min(rows.length, Math.ceil((top + height) / kRowHeight) + 4);
  const { row: focused, ...keys } = useOneStop(rows.length, bring);
  const stop = Math.max(first, Math.min(last - 1, focused));
  return (
    <div class="list" ref={list} data-testid="classes" onScroll={(event) => setTop(event.currentTarget.scrollTop)} {...keys}>
      {rows.length === 0 && <p class="insight">No class and no holder has this in its name.</p>}
      <div style={{ height: `${rows.length * kRowHeight}px`, paddingTop: `${first * kRowHeight}px` }}>
        {rows.slice(first, last).map((row, i) => (
          <Row
            key={row}
            reply={reply}
            row={row}
            most={most}
            isCurrent={reply.heap_class[row] === current}
            isStop={first + i === stop}
            place={first + i}
          />
        ))}
      </div>
    </div>
  );
}

export function ClassesPanel() {
  const store = useHeapStore();
  const { data: reply, error } = useHeap(kClassesQuery);
  const headers = store.isComparison ? kComparison : kSingle;
  const grew = reply?.retained_delta?.reduce((sum, value) => sum + (value > 0 ? 1 : 0), 0) ?? 0;
  const shrank = reply?.retained_delta?.reduce((sum, value) => sum + (value < 0 ? 1 : 0), 0) ?? 0;
  return (
    <section class={store.isComparison ? 'panel classes compared' : 'panel classes'} aria-label="Classes">
      <div class="ph">
        <h2>{store.isComparison ? 'Growth by class' : 'Classes'}</h2>
        <span class="dim">{!reply ? '' : store.isComparison ? `${count(grew)} grew, ${count(shrank)} shrank` : count(reply.rows_count)}</span>
        <div class="grow" />
        <span class="dim small extra">Retained = freed if these objects went away</span>
      </div>
      <div class="th">
        {headers.map((header) => (
          <HeaderCell key={header.text} {...header} />
        ))}
      </div>
      {error && <p class="problem">{error}</p>}
      {reply && <Rows reply={reply} />}
    </section>
  );
}
