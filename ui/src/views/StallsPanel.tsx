import { selectStall } from '../app/actions';
import { clock, count, duration, plain, shortPlace } from '../app/format';
import type { Loaded } from '../app/queries';
import { useStore } from '../app/store';
import type { Stall, Stalls } from '../wire/views';
import { useOneStop } from './parts';

const kLeastStallMs = 50;
const kMostShown = 500;

function StallRow({ stall, longest, row, isStop }: { stall: Stall; longest: number; row: number; isStop: boolean }) {
  const store = useStore();
  const { about, state } = store;
  const length = stall.to_ns - stall.from_ns;
  const isCurrent = state.range?.[0] === stall.from_ns && state.range?.[1] === stall.to_ns;
  const thread = about.threads[stall.thread];
  const process = about.processes[thread?.process ?? 0];
  return (
    <button type="button" class="st" data-row={row} tabIndex={isStop ? 0 : -1} aria-current={isCurrent} onClick={() => selectStall(store, stall)}>
      <span>
        <span class="d">{duration(length)}</span>
        <span class="bar2">
          <i style={{ width: `${Math.max(2, (length / longest) * 64)}px` }} />
        </span>
      </span>
      <span class="what">
        <span class="n">
          <b class="mono">{plain(stall.name, 200)}</b> <span class="dim">{plain(shortPlace(stall.place, about.app_root), 200)}</span>
        </span>
        <span class="w">
          {stall.why}
          {`${stall.why ? ', ' : ''}${stall.estimated ? 'estimated' : 'measured'}`}
        </span>
      </span>
      <span class="at" title={stall.wall_ms ? new Date(stall.wall_ms).toISOString() : undefined}>
        {clock(stall.from_ns, 1)}
        <span class="w">
          {plain(thread?.role === 'worker' ? `worker ${thread.tid}` : process?.name || '', 20)} {thread?.pid || ''}
        </span>
      </span>
    </button>
  );
}

export function StallsPanel({ result }: { result: Loaded<Stalls> }) {
  const stalls = result.data?.stalls ?? [];
  const { row: focused, ...keys } = useOneStop(Math.min(stalls.length, kMostShown));
  const total = stalls.reduce((sum, s) => sum + s.to_ns - s.from_ns, 0);
  const longest = stalls[0] ? stalls[0].to_ns - stalls[0].from_ns : 1;
  const best = result.data?.longest;
  const busy = result.data?.busy_percent;
  return (
    <section class="panel side" aria-label="Event-loop stalls">
      <div class="ph">
        <h2>Event-loop stalls</h2>
        {stalls.length > 0 && (
          <span class="dim">
            {count(stalls.length)}, {duration(total)} in all
          </span>
        )}
        <div class="grow" />
        <span class="dim small extra">≥ {kLeastStallMs} ms, longest first</span>
      </div>
      {result.data?.sentence && <p class="insight">{plain(result.data.sentence, 300)}</p>}
      {result.error && <p class="problem">{result.error}</p>}
      {!result.loading && stalls.length === 0 && (
        <p class="insight">
          {result.data?.measured
            ? `No stall of ${kLeastStallMs} ms or more, measured.`
            : `No stall of ${kLeastStallMs} ms or more could be proven${busy === undefined ? '' : ` (loop busy ${Math.round(busy)} %)`}.`}
          {best &&
            ` Longest ${result.data?.measured ? 'turn' : 'estimate'}: ${duration(best.to_ns - best.from_ns)} at ${clock(best.from_ns, 1)}.`}
        </p>
      )}
      <div class="list" data-testid="stalls" {...keys}>
        {stalls.slice(0, kMostShown).map((stall, i, shown) => (
          <StallRow key={`${stall.thread}-${stall.from_ns}`} stall={stall} longest={longest} row={i} isStop={i === Math.min(focused, shown.length - 1)} />
        ))}
      </div>
    </section>
  );
}
