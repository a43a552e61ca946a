// Small parts that several panels share.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useChannel, type Channel, type Lit } from '../app/store';

interface Choice<T extends string> {
  value: T;
  text: string;
  title?: string;
}

export function Segments<T extends string>(props: { label: string; value: T; choices: Choice<T>[]; choose: (value: T) => void }) {
  return (
    <div class="seg" role="group" aria-label={props.label}>
      {props.choices.map(({ value, text, title }) => (
        <button type="button" key={value} aria-pressed={value === props.value} title={title} onClick={() => props.choose(value)}>
          {text}
        </button>
      ))}
    </div>
  );
}

export function Switch(props: { on: boolean; toggle: () => void; title?: string; children: ComponentChildren }) {
  return (
    <button type="button" class="switch" aria-pressed={props.on} title={props.title} onClick={props.toggle}>
      <i />
      {props.children}
    </button>
  );
}

export function Swatch({ token }: { token: string }) {
  return <i class="sw" style={{ background: `var(--${token})` }} />;
}

// An entry of a legend.  Who cannot tell two colours apart points at it, and only what it stands for stays at full strength.
export function Key({ name, lit, children }: { name: string; lit: Channel<Lit | null>; children: ComponentChildren }) {
  const current = useChannel(lit);
  const point = () => current?.stays || lit.set({ name, stays: false });
  const leave = () => current?.stays || lit.set(null);
  return (
    <button
      type="button"
      class="key"
      title="Point here to show only these at full strength; click to keep it so"
      aria-pressed={current?.stays === true && current.name === name}
      onPointerEnter={point}
      onPointerLeave={leave}
      onFocus={point}
      onBlur={leave}
      onClick={() => lit.set(current?.stays && current.name === name ? null : { name, stays: true })}
    >
      {children}
    </button>
  );
}

// A list of buttons with `data-row` is one stop for Tab, at the row that had the focus last; arrows go through it.  Where
// only the rows in sight are in the document, `bring` scrolls to one, and it gets the focus as soon as it is there: a key
// that is held down is faster than the list.
export function useOneStop(rows: number, bring?: (row: number) => void) {
  const [row, setRow] = useState(0);
  const going = useRef<{ list: HTMLElement; row: number } | null>(null);
  const rowOf = (target: EventTarget | null) => Number((target as HTMLElement).closest<HTMLElement>('[data-row]')?.dataset.row ?? NaN);
  useLayoutEffect(() => {
    if (going.current && going.current.row >= rows) going.current = null;
    const there = going.current?.list.querySelector<HTMLElement>(`[data-row="${going.current.row}"]`);
    there?.focus();
  });
  return {
    row,
    onFocusCapture: (event: FocusEvent) => {
      going.current = null;
      if (!Number.isNaN(rowOf(event.target))) setRow(rowOf(event.target));
    },
    onKeyDown: (event: KeyboardEvent) => {
      const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      const next = (going.current?.row ?? rowOf(event.target)) + by;
      if (!(next >= 0 && next < rows)) return;
      going.current = { list: event.currentTarget as HTMLElement, row: next };
      setRow(next);
      bring?.(next);
    },
  };
}

// Scrolls no further than it takes to have what is between the two lines in sight.
export function bringIntoSight(view: HTMLElement, top: number, bottom: number): void {
  if (top < view.scrollTop) view.scrollTop = top;
  else if (bottom > view.scrollTop + view.clientHeight) view.scrollTop = bottom - view.clientHeight;
}

// Whoever uses the keyboard goes on from where they were.
export function returnFocus(to: Element | null): void {
  const isLost = !document.activeElement || document.activeElement === document.body;
  if (isLost && to instanceof HTMLElement && to.isConnected) to.focus();
}

// Tab stays inside.
function keepFocus(event: KeyboardEvent): void {
  if (event.key !== 'Tab') return;
  const stops = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('button, a, input, select')];
  const next = stops.indexOf(document.activeElement as HTMLElement) + (event.shiftKey ? -1 : 1);
  event.preventDefault();
  stops[(next + stops.length) % stops.length].focus();
}

export function Overlay(props: { title: string; close: () => void; children: ComponentChildren }) {
  const before = useRef(document.activeElement);
  useLayoutEffect(() => () => queueMicrotask(() => returnFocus(before.current)), []); // when it has left the document
  return (
    <div class="overlay" onClick={(event) => event.target === event.currentTarget && props.close()}>
      <div class="dialog" onKeyDown={keepFocus} role="dialog" aria-modal="true" aria-label={props.title}>
        <header>
          <h2>{props.title}</h2>
          <button type="button" class="btn" autofocus onClick={props.close} ref={(element) => element?.focus()}>
            Close
          </button>
        </header>
        <div class="body">{props.children}</div>
      </div>
    </div>
  );
}
