import { useEffect, useRef, useState } from 'preact/hooks';
import { editorAddress, showSource } from '../app/actions';
import { parsePlace, percent, plain, shortName, weight, type Position } from '../app/format';
import { selectionQuery, useEngine } from '../app/queries';
import { countOriginals, groupByOriginal, loadMap, originalOf, pathOfOriginal, readOriginals, type MappedCounts } from '../app/source_map';
import { textReader } from '../app/source_text';
import { useStore } from '../app/store';
import { asItIs } from '../wire/decode';
import type { Ask, Engine } from '../wire/engine';
import type { SourceLines } from '../wire/views';
import { Suggestions } from './Suggestions';

const kMaxLines = 20_000;

function plainCounts(path: string, text: string, lines: SourceLines): MappedCounts {
  const counts: MappedCounts = { file: { path, lines: text.split('\n') }, self: new Map(), total: new Map() };
  for (let i = 0; i < lines.line.length; i++) {
    const line = lines.line[i];
    counts.self.set(line, (counts.self.get(line) ?? 0) + lines.self[i]);
    counts.total.set(line, (counts.total.get(line) ?? 0) + lines.total[i]);
  }
  return counts;
}

interface Sources {
  files: MappedCounts[];
  place: { file: number; line: number }; // that was asked for
}

async function loadSources(engine: Engine, query: Ask<'source'>, position: Position, lines: SourceLines): Promise<Sources> {
  const path = position.file;
  const read = textReader(engine, Number(query.file ?? 0));
  const text = await read(path);
  if (text === null) return { files: [], place: { file: 0, line: 0 } };
  const map = await loadMap(path, text, read);
  if (map) {
    // A map goes by columns: a bundle may be one line.
    const { groups, originals } = groupByOriginal(map, await engine.ask({ ...query, columns: true }));
    const sums = originals.length > 0 ? await engine.ask({ ...query, view: 'groups', groups }) : { self: [], total: [] };
    const counts = countOriginals(originals, sums);
    const files = await readOriginals(map, counts, textReader(engine, Number(query.file ?? 0), path));
    const original = originalOf(map, position.line, position.column);
    const file = Math.max(0, files.findIndex((entry) => entry.file.path === original?.source));
    if (files.length > 0) return { files, place: { file, line: files[file].file.path === original?.source ? original.line : 0 } };
  }
  return { files: [plainCounts(path, text, lines)], place: { file: 0, line: position.line } };
}

function Listing({ counts, lines, target }: { counts: MappedCounts; lines: SourceLines; target: number }) {
  const list = useRef<HTMLDivElement>(null);
  const most = Math.max(1, ...counts.total.values());
  const busiest = [...counts.total.entries()].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 1;
  const goal = target > 1 ? target : busiest;
  useEffect(() => {
    list.current?.querySelector(`[data-line="${goal}"]`)?.scrollIntoView({ block: 'center' });
  }, [counts, goal]);
  const share = (value: number) => (lines.selection_total > 0 ? value / lines.selection_total : 0);
  return (
    <div class="source" ref={list} tabIndex={0} role="table" aria-label={`Source of ${counts.file.path}`}>
      {counts.file.lines.slice(0, kMaxLines).map((text, i) => {
        const self = counts.self.get(i + 1) ?? 0;
        const total = counts.total.get(i + 1) ?? 0;
        return (
          <div class={i + 1 === goal ? 'ln goal' : 'ln'} role="row" data-line={i + 1} key={i} title={total > 0 ? `self ${weight(self, lines.unit)}, total ${weight(total, lines.unit)}` : undefined}>
            <span class="v">{self > 0 ? percent(share(self)) : ''}</span>
            <span class="v">
              <i style={{ width: `${(total / most) * 60}px` }} />
              <em>{total > 0 ? percent(share(total)) : ''}</em>
            </span>
            <span class="no">{i + 1}</span>
            <code>{plain(text, 400)}</code>
          </div>
        );
      })}
    </div>
  );
}

export function SourceView() {
  const store = useStore();
  const { state } = store;
  const place = state.source || state.fn?.place || '';
  const position = parsePlace(place);
  const path = position?.file ?? '';
  const query: Ask<'source'> = { view: 'source', ...selectionQuery(state), my: undefined, path };
  const result = useEngine(path ? query : null, asItIs);
  const [sources, setSources] = useState<Sources | null>(null);
  const [chosen, setChosen] = useState(0);
  useEffect(() => {
    let current = true;
    setSources(null);
    if (!result.data || !position) return;
    void loadSources(store.engine, query, position, result.data).then((found) => {
      if (!current) return;
      setSources(found);
      setChosen(found.place.file);
    });
    return () => void (current = false);
  }, [place, result.data]);

  if (!path) {
    const why = state.fn ? `${plain(shortName(state.fn.name, 80), 120)} is not in a file of JavaScript. ` : '';
    return <Suggestions words={`${why}Choose a function here, in the list, or by a right click on a box:`} choose={(_, found) => showSource(store, found)} />;
  }
  const shown = sources?.files[chosen];
  const line = shown && chosen === sources!.place.file ? sources!.place.line : 0;
  const original = shown && shown.file.path !== path ? pathOfOriginal(shown.file.path) : null;
  const editor = editorAddress(original ? `${original}:${line || 1}` : place);
  return (
    <>
      <div class="crumbs">
        <b class="mono">{plain(original ?? shown?.file.path ?? path, 200)}</b>
        {sources && sources.files.length > 1 && (
          <select aria-label="Original file" value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {sources.files.map((source, i) => (
              <option value={i}>{plain(pathOfOriginal(source.file.path) ?? source.file.path, 100)}</option>
            ))}
          </select>
        )}
        {editor && (
          <button type="button" class="chip" onClick={() => location.assign(editor)}>
            Open in the editor
          </button>
        )}
      </div>
      {result.error && <p class="problem">{result.error}</p>}
      {shown && result.data && <Listing counts={shown} lines={result.data} target={line} />}
      {sources?.files.length === 0 && result.data && <LineTable lines={result.data} />}
    </>
  );
}

// Without the text the lines still tell where the time goes.
function LineTable({ lines }: { lines: SourceLines }) {
  const order = [...lines.line.keys()].sort((a, b) => lines.total[b] - lines.total[a]);
  return (
    <>
      <p class="insight">The text of this file is not at hand. Its lines by samples:</p>
      <div class="source" role="table">
        {order.slice(0, 500).map((i) => (
          <div class="ln" role="row" key={i}>
            <span class="v">{percent(lines.self[i] / Math.max(1, lines.selection_total))}</span>
            <span class="v">
              <em>{percent(lines.total[i] / Math.max(1, lines.selection_total))}</em>
            </span>
            <span class="no">{lines.line[i]}</span>
            <code>line {lines.line[i]}</code>
          </div>
        ))}
      </div>
    </>
  );
}
