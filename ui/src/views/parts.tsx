// Small parts that several panels share.

import type { ComponentChildren } from 'preact';

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

export function Overlay(props: { title: string; close: () => void; children: ComponentChildren }) {
  return (
    <div class="overlay" onClick={(event) => event.target === event.currentTarget && props.close()}>
      <div class="dialog" role="dialog" aria-modal="true" aria-label={props.title}>
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
