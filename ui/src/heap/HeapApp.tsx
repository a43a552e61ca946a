import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count, percent, plain } from '../app/format';
import { Floating, FloatingContext } from '../app/store';
import { Overlay, Segments } from '../views/parts';
import { Tooltip } from '../views/Tooltip';
import { Logo, ThemeButton } from '../views/TopBar';
import { ClassesPanel } from './ClassesPanel';
import { DominatorsPanel } from './DominatorsPanel';
import { signedSize, size } from './format';
import { HolderView } from './HolderView';
import { kHeapKeys, kHeapMouse, runHeapKey } from './keys';
import { ObjectsView } from './ObjectsView';
import { ObjectView } from './ObjectView';
import { useHeapStore } from './store';

function Answer() {
  const store = useHeapStore();
  const { about } = store;
  return (
    <p class={about.leaks ? 'verdict leaks' : 'verdict'} data-testid="answer">
      {plain(about.sentence, 400)}
      {about.object !== undefined && (
        <button type="button" class="link" onClick={() => store.chooseObject(about.object!)}>
          {about.leaks ? 'One of them' : 'Show it'}
        </button>
      )}
    </p>
  );
}

function HeapStrip() {
  const { about, isComparison } = useHeapStore();
  const { snapshots, parts, references } = about;
  const newest = snapshots[snapshots.length - 1];
  const shown: [string, number][] = [
    ['Strings', parts.strings],
    ['Code', parts.code],
    ['Arrays', parts.arrays],
    ['Outside of V8', parts.native],
    ['V8', parts.system],
    ['Other objects', parts.other],
  ];
  const warnings = about.diagnostics.filter(({ severity }) => severity !== 'info');
  return (
    <dl class={isComparison ? 'sum compared' : 'sum'}>
      {snapshots.map((snapshot, i) => (
        <div key={i}>
          <dt>
            <span class="cut">{plain(snapshot.name, 80)}</span>
          </dt>
          <dd>{size(snapshot.bytes)}</dd>
        </div>
      ))}
      {isComparison && (
        <div>
          <dt>Change</dt>
          <dd class={newest.bytes > snapshots[0].bytes ? 'grew' : ''}>{signedSize(newest.bytes - snapshots[0].bytes)}</dd>
        </div>
      )}
      {shown.map(([name, bytes]) => (
        <div key={name} class="extra">
          <dt>{name}</dt>
          <dd>
            {size(bytes)} <span class="dim">{percent(bytes / newest.bytes, 0)}</span>
          </dd>
        </div>
      ))}
      <div class="trust">
        <div>
          <dt>Objects</dt>
          <dd>{count(newest.objects)}</dd>
        </div>
        <div>
          <dt>References</dt>
          <dd>{count(references)}</dd>
        </div>
        {warnings.length > 0 && (
          <div title={warnings.map(({ what, count: times, example }) => plain(`${what} (${times}) ${example}`, 300)).join('\n')}>
            <dt>In doubt</dt>
            <dd class="warn">{count(warnings.reduce((sum, { count: times }) => sum + times, 0))}</dd>
          </div>
        )}
      </div>
    </dl>
  );
}

function SidePanel() {
  const store = useHeapStore();
  const { panel } = store.state;
  return (
    <section class="panel side holders" aria-label="What was chosen">
      <div class="ph">
        <Segments
          label="What to show"
          value={panel}
          choices={[
            { value: 'holder', text: 'What holds them', title: 'The path from a root (1)' },
            { value: 'objects', text: 'Objects', title: 'The objects of the class (2)' },
            { value: 'object', text: 'Object', title: 'One object with what it refers to and what refers to it (3)' },
          ]}
          choose={(value) => store.update({ panel: value })}
        />
      </div>
      {panel === 'holder' && <HolderView />}
      {panel === 'objects' && <ObjectsView />}
      {panel === 'object' && <ObjectView />}
    </section>
  );
}

function Help({ close }: { close: () => void }) {
  return (
    <Overlay title="Keys and gestures" close={close}>
      <table class="keys">
        <tbody>
          {kHeapKeys.map(({ keys, words }) => (
            <tr key={words}>
              <td>
                {keys.map((key) => (
                  <kbd>{key === 'Escape' ? 'Esc' : key}</kbd>
                ))}
              </td>
              <td>{words}</td>
            </tr>
          ))}
          {kHeapMouse.map(([gesture, words]) => (
            <tr key={gesture}>
              <td>{gesture}</td>
              <td>{words}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Overlay>
  );
}

export function HeapApp() {
  const store = useHeapStore();
  const [help, setHelp] = useState(false);
  const filter = useRef<HTMLInputElement>(null);
  const floating = useMemo(() => new Floating(), []);
  const names = store.about.snapshots.map(({ name }) => name);

  useEffect(() => {
    document.title = `${plain(names[names.length - 1], 80)} · nodescope`;
  }, []);
  const pressed = useRef<(event: KeyboardEvent) => void>(() => {});
  pressed.current = (event) => {
    if (!help) runHeapKey(event, { store, filter: filter.current!, help: () => setHelp(true) });
    else if (event.key === 'Escape') setHelp(false);
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => pressed.current(event);
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);

  return (
    <FloatingContext.Provider value={floating}>
      <header class="bar">
        <Logo />
        <span class="dim cut">{plain(names.join(' → '), 120)}</span>
        <div class="grow" />
        <label class="field">
          <input
            ref={filter}
            value={store.state.filter}
            placeholder="Filter classes and holders"
            aria-label="Filter classes and holders"
            spellcheck={false}
            onInput={(event) => store.update({ filter: event.currentTarget.value }, false)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') store.update({ filter: '' });
              if (event.key === 'Escape' || event.key === 'Enter') event.currentTarget.blur();
            }}
          />
          <kbd>/</kbd>
        </label>
        <button type="button" class="btn icon" title="Keys and help (?)" aria-label="Keys and help" onClick={() => setHelp(true)}>
          ?
        </button>
        <ThemeButton />
      </header>
      <Answer />
      <HeapStrip />
      <main class="grid heap">
        <ClassesPanel />
        <SidePanel />
        <DominatorsPanel />
      </main>
      <Tooltip />
      {help && <Help close={() => setHelp(false)} />}
      <div class="spoken" role="status" aria-live="polite">
        {store.announcement}
      </div>
    </FloatingContext.Provider>
  );
}
