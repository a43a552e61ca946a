import { percent, plain, shortName, shortPlace } from '../app/format';
import { selectionQuery, useEngine } from '../app/queries';
import { useStore } from '../app/store';
import { asItIs } from '../wire/decode';
import { Origin } from '../wire/views';

const kMost = 8;

// What to begin with where nothing is chosen yet: the functions of JavaScript that take most time themselves.
export function Suggestions({ words, choose }: { words: string; choose: (name: string, place: string) => void }) {
  const { state, about } = useStore();
  const { data: table } = useEngine({ view: 'table', ...selectionQuery(state), my: undefined, group: 'function', sort: 'self' }, asItIs);
  if (!table) return null;
  const isOfFile = (row: number) => /^(\/|file:\/\/).*:\d+/.test(table.places[row] ?? '') && (table.origin[row] === Origin.own || table.origin[row] === Origin.package);
  const rows = [...table.names.keys()].filter(isOfFile).slice(0, kMost);
  return (
    <div class="suggestions">
      <p class="insight">{words}</p>
      {rows.map((row) => (
        <button type="button" key={row} onClick={() => choose(table.names[row], table.places[row])}>
          <span class="num">{percent(table.total > 0 ? table.self[row] / table.total : 0)}</span>
          <b class="mono">{plain(shortName(table.names[row], 60), 120)}</b>
          <span class="dim">{plain(shortPlace(table.places[row], about.app_root), 200)}</span>
        </button>
      ))}
    </div>
  );
}
