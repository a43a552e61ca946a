import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { compareWith, swapSides } from '../app/actions';
import { percent } from '../app/format';
import { flameQuery, useEngine } from '../app/queries';
import { useStore } from '../app/store';
import { toggleTheme } from '../app/theme';
import { decodeFlame } from '../wire/decode';
import type { Dialog } from './App';
import { ExportMenu } from './ExportMenu';
import { Switch } from './parts';

export function Logo() {
  return (
    <div class="logo">
      <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
        <rect x="1" y="2" width="5" height="4" fill="var(--h2)" />
        <rect x="1" y="7" width="5" height="4" fill="var(--h3)" />
        <rect x="1" y="12" width="5" height="6" fill="var(--h1)" />
        <rect x="7.5" y="2" width="5" height="9" fill="var(--h4)" />
        <rect x="7.5" y="12" width="5" height="6" fill="var(--h3)" />
        <rect x="14" y="2" width="5" height="4" fill="var(--h1)" />
        <rect x="14" y="7" width="5" height="11" fill="var(--h5)" />
      </svg>
      nodescope
    </div>
  );
}

export function ThemeButton() {
  return (
    <button type="button" class="btn icon" title="Light or dark (T)" aria-label="Light or dark" onClick={toggleTheme}>
      <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
        <circle cx="7" cy="7" r="5.5" fill="none" stroke="currentColor" stroke-width="1.5" />
        <path d="M7 1.5a5.5 5.5 0 010 11z" fill="currentColor" />
      </svg>
    </button>
  );
}

function SearchField({ input }: { input: RefObject<HTMLInputElement> }) {
  const store = useStore();
  const { search } = store.state;
  const [text, setText] = useState(search);
  const flame = useEngine(search ? flameQuery({ ...store.state, view: 'flame' }, store.about) : null, decodeFlame);
  // While someone types, the field leads and the state follows.
  useEffect(() => {
    if (document.activeElement !== input.current) setText(search);
  }, [search]);
  const matched = flame.data?.matched;
  const total = flame.data?.tree.total ?? 0;
  return (
    <label class={flame.error ? 'field wrong' : 'field'} title={flame.error}>
      <svg width="14" height="14" viewBox="0 0 14 14" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">
        <circle cx="6" cy="6" r="4" />
        <path d="M9 9l3.5 3.5" />
      </svg>
      <input
        ref={input}
        value={text}
        placeholder="Search functions and files"
        aria-label="Search functions and files, a regular expression"
        spellcheck={false}
        onInput={(event) => {
          const value = event.currentTarget.value;
          setText(value);
          store.update({ search: value.trim() }, false);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            setText('');
            store.update({ search: '' });
            event.currentTarget.blur();
          } else if (event.key === 'Enter') {
            event.currentTarget.blur();
          }
        }}
      />
      <span class="num" data-testid="matched">
        {flame.error ? 'not a pattern' : search && matched !== undefined && total > 0 ? percent(matched / total) : ''}
      </span>
      <kbd>/</kbd>
    </label>
  );
}

function FileChoice() {
  const store = useStore();
  if (store.files.length < 2) return null;
  const { file, base } = store.state;
  const other = base && base.file !== file ? base.file : -1;
  return (
    <div class="files">
      <select
        aria-label="Recording"
        value={file}
        onChange={(event) => store.update({ file: Number(event.currentTarget.value), range: null, threads: [], base: null, window: null, zoom: 0, event: 0 })}
      >
        {store.files.map((about, i) => (
          <option value={i}>{about.name}</option>
        ))}
      </select>
      <span class="dim">against</span>
      <select
        aria-label="Compare with"
        value={other}
        onChange={(event) => {
          const chosen = Number(event.currentTarget.value);
          compareWith(store, chosen < 0 ? null : { file: chosen, range: null, threads: [] });
        }}
      >
        <option value={-1}>nothing</option>
        {store.files.map((about, i) => i !== file && <option value={i}>{about.name}</option>)}
      </select>
      {other >= 0 && (
        <button type="button" class="btn small" title="The baseline becomes what is looked at, and the other way round" onClick={() => swapSides(store)}>
          Swap
        </button>
      )}
    </div>
  );
}

export function TopBar({ search, show }: { search: RefObject<HTMLInputElement>; show: (dialog: Dialog) => void }) {
  const store = useStore();
  const { state, about } = store;
  return (
    <header class="bar">
      <Logo />
      <FileChoice />
      {about.events.length > 1 && (
        <select aria-label="Event" value={state.event} onChange={(e) => store.update({ event: Number(e.currentTarget.value), zoom: 0 })}>
          {about.events.map((event, i) => (
            <option value={i}>{event.name}</option>
          ))}
        </select>
      )}
      <div class="grow" />
      <SearchField input={search} />
      <Switch on={state.my} toggle={() => store.update({ my: !state.my, zoom: 0 })} title="Fold Node's own code, packages and native code (M)">
        Only my code
      </Switch>
      <ExportMenu />
      <button type="button" class="btn" title="About this recording (A)" onClick={() => show('about')}>
        About
      </button>
      <button type="button" class="btn icon" title="Keys and help (?)" aria-label="Keys and help" onClick={() => show('help')}>
        ?
      </button>
      <ThemeButton />
    </header>
  );
}
