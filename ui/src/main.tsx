import './style.css';
import { render } from 'preact';
import { bytes } from './app/format';
import { Store, StoreContext } from './app/store';
import { startTheme } from './app/theme';
import { HeapEngine } from './heap/engine';
import { HeapStore, HeapStoreContext } from './heap/store';
import { HeapApp } from './heap/HeapApp';
import { App } from './views/App';
import { Engine } from './wire/engine';
import { findRecordings, readEngine } from './wire/recordings';
import type { About } from './wire/views';

const root = document.getElementById('app')!;

function say(text: string, problem = false): void {
  render(<p class={problem ? 'loading problem' : 'loading'} role={problem ? 'alert' : 'status'}>{text}</p>, root);
}

async function openAll(engine: Engine): Promise<About[]> {
  const files: About[] = [];
  for (const source of await findRecordings()) {
    say(`Reading ${source.name}, ${bytes(source.bytes)}`);
    await engine.open(source.name, await source.read());
    files.push(await engine.ask({ view: 'about', file: files.length }));
  }
  if (files.length === 0) throw new Error('there is no recording to show');
  return files;
}

async function showHeap(engine: HeapEngine): Promise<void> {
  say('Reading the heap');
  const store = new HeapStore(engine, await engine.ask({ view: 'about' }));
  render(
    <HeapStoreContext.Provider value={store}>
      <HeapApp />
    </HeapStoreContext.Provider>,
    root,
  );
}

async function start(): Promise<void> {
  startTheme();
  say('Starting');
  const heap = await HeapEngine.find();
  if (heap) return showHeap(heap);
  const engine = new Engine();
  await engine.start(await readEngine());
  const store = new Store(engine, await openAll(engine));
  render(
    <StoreContext.Provider value={store}>
      <App />
    </StoreContext.Provider>,
    root,
  );
}

start().catch((error: Error) => say(`This could not be shown: ${error.message}`, true));
