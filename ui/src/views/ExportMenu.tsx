import { useEffect, useRef, useState } from 'preact/hooks';
import { copy, download } from '../app/actions';
import { flameQuery, selectionQuery, tableQuery } from '../app/queries';
import { kInitial } from '../app/state';
import { useStore } from '../app/store';
import type { Query } from '../wire/engine';
import { isServed, wholePage } from '../wire/recordings';
import { Segments } from './parts';

const kFormats: [format: string, words: string, extension: string][] = [
  ['cpuprofile', 'Chrome DevTools, VS Code', '.cpuprofile'],
  ['speedscope', 'speedscope', '.speedscope.json'],
  ['pprof', 'pprof', '.pb.gz'],
  ['folded', 'Folded stacks', '.folded'],
];

async function gzip(bytes: BlobPart): Promise<Blob> {
  return new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'))).blob();
}

export function ExportMenu() {
  const store = useStore();
  const [open, setOpen] = useState(false);
  const [what, setWhat] = useState<'selection' | 'everything'>('selection');
  const [problem, setProblem] = useState('');
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const onPress = (event: PointerEvent) => {
      if (!element.current?.contains(event.target as Node)) setOpen(false);
    };
    window.addEventListener('pointerdown', onPress);
    return () => window.removeEventListener('pointerdown', onPress);
  }, [open]);

  const state = what === 'selection' ? store.state : { ...kInitial, file: store.state.file, event: store.state.event };
  const base = store.about.name.replace(/\.[a-z]+$/i, '') || 'profile';
  const guard = (run: () => Promise<void>) => async () => {
    setProblem('');
    try {
      await run();
      setOpen(false);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const bytesOf = async (format: string, query: Query): Promise<Uint8Array<ArrayBuffer>> => {
    const { bytes } = await store.engine.ask({ ...query, view: 'export', format });
    return bytes as Uint8Array<ArrayBuffer>;
  };
  const save = (format: string, extension: string, query: Query) =>
    guard(async () => {
      const bytes = await bytesOf(format, query);
      download(extension.endsWith('.gz') ? await gzip(bytes) : new Blob([bytes]), base + extension);
    });
  const savePng = guard(async () => {
    const canvas = document.querySelector<HTMLCanvasElement>('[data-testid=flame], [data-testid=sandwich]');
    if (!canvas) throw new Error('there is no drawing to save');
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
    if (!blob) throw new Error('the drawing is too large for a picture');
    download(blob, `${base}.png`);
  });

  return (
    <div class="export" ref={element} onKeyDown={(event) => event.key === 'Escape' && (event.stopPropagation(), setOpen(false))}>
      <button type="button" class="btn" aria-expanded={open} aria-haspopup="menu" onClick={() => setOpen(!open)}>
        Export
        <svg width="8" height="8" viewBox="0 0 8 8" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">
          <path d="M1 2.5l3 3 3-3" />
        </svg>
      </button>
      {open && (
        <div class="menu popover" role="menu" aria-label="Export">
          <div class="mh">
            <b>Export</b>
            <Segments
              label="What to export"
              value={what}
              choices={[
                { value: 'selection', text: 'Selection' },
                { value: 'everything', text: 'Everything' },
              ]}
              choose={setWhat}
            />
          </div>
          {isServed() && (
            <button type="button" role="menuitem" onClick={guard(async () => download(await wholePage(), `${base}.html`))}>
              This page, one HTML file<span>.html</span>
            </button>
          )}
          <button type="button" role="menuitem" onClick={guard(() => copy(store, location.href, 'Link'))}>
            Link to this view<span>copy</span>
          </button>
          <hr />
          {kFormats.map(([format, words, extension]) => (
            <button type="button" role="menuitem" key={format} onClick={save(format, extension, selectionQuery(state))}>
              {words}
              <span>{extension}</span>
            </button>
          ))}
          <hr />
          <button type="button" role="menuitem" onClick={save('svg', '.svg', flameQuery(state, store.about))}>
            Flame graph, drawing<span>.svg</span>
          </button>
          <button type="button" role="menuitem" onClick={savePng}>
            What is in sight, picture<span>.png</span>
          </button>
          <button type="button" role="menuitem" onClick={save('csv', '.csv', tableQuery(state))}>
            Table of functions<span>.csv</span>
          </button>
          {problem && <p class="problem">{problem}</p>}
        </div>
      )}
    </div>
  );
}
