import { useEffect, useState } from 'preact/hooks';
import { Theme } from '../draw/palette';

const kKey = 'nodescope.theme';

function remembered(): string | null {
  try {
    return localStorage.getItem(kKey);
  } catch {
    return null; // a page from disk may have no storage
  }
}

function isDark(): boolean {
  const choice = remembered();
  return choice ? choice === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

const listeners = new Set<() => void>();
let current: Theme;

function apply(dark: boolean): void {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  current = new Theme();
  for (const listener of listeners) listener();
}

export function startTheme(): void {
  apply(isDark());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => apply(isDark()));
}

export function toggleTheme(): void {
  const dark = document.documentElement.dataset.theme !== 'dark';
  try {
    localStorage.setItem(kKey, dark ? 'dark' : 'light');
  } catch {
    // It is then forgotten with the page.
  }
  apply(dark);
}

export function useTheme(): Theme {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((n) => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return current;
}
