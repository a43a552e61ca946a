import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { runKey } from '../app/keys';
import { useEngine } from '../app/queries';
import { Floating, FloatingContext, useStore } from '../app/store';
import { toggleTheme } from '../app/theme';
import { asItIs, decodeMarkers } from '../wire/decode';
import { AboutDialog } from './AboutDialog';
import { ContextMenu } from './ContextMenu';
import { FunctionsPanel } from './FunctionsPanel';
import { HelpDialog } from './HelpDialog';
import { Strip, VerdictLine } from './Strip';
import { StallsPanel } from './StallsPanel';
import { Tooltip } from './Tooltip';
import { TopBar } from './TopBar';
import { WhenPanel } from './WhenPanel';
import { WhyPanel } from './WhyPanel';

export type Dialog = 'help' | 'about' | null;

export function App() {
  const store = useStore();
  const [dialog, setDialog] = useState<Dialog>(null);
  const search = useRef<HTMLInputElement>(null);
  const floating = useMemo(() => new Floating(), []);
  const { file, event } = store.state;
  const stalls = useEngine({ view: 'stalls', file, event }, asItIs);
  const markers = useEngine({ view: 'markers', file }, decodeMarkers);
  const stallList = stalls.data?.stalls ?? [];

  useEffect(() => {
    document.title = `${store.about.name} · nodescope`;
  }, [store.about.name]);

  // As of the last drawing, not of the last effect: keys may follow each other faster than frames.
  const pressed = useRef<(event: KeyboardEvent) => void>(() => {});
  pressed.current = (event) => {
    if (!dialog && !floating.menu.value) {
      runKey(event, { store, stalls: stallList, search: search.current!, show: setDialog, toggleTheme });
    } else if (event.key === 'Escape') {
      setDialog(null);
      floating.showMenu(null);
    }
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => pressed.current(event);
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);

  return (
    <FloatingContext.Provider value={floating}>
      <TopBar search={search} show={setDialog} />
      <VerdictLine />
      <Strip show={setDialog} />
      <main class={store.about.has_times ? 'grid' : 'grid timeless'}>
        {store.about.has_times && (
          <>
            <WhenPanel stalls={stallList} markers={markers.data ?? []} />
            <StallsPanel result={stalls} />
          </>
        )}
        <WhyPanel />
        <FunctionsPanel />
      </main>
      <Tooltip />
      <ContextMenu />
      {dialog === 'help' && <HelpDialog close={() => setDialog(null)} />}
      {dialog === 'about' && <AboutDialog close={() => setDialog(null)} />}
      <div class="spoken" role="status" aria-live="polite">
        {store.announcement}
      </div>
    </FloatingContext.Provider>
  );
}
