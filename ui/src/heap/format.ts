// Sizes of a heap, in the units of the command line.

import { count } from '../app/format';

export function size(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let rest = Math.abs(value);
  while (rest >= 1024 && unit < units.length - 1) {
    rest /= 1024;
    unit++;
  }
  return `${value < 0 ? '−' : ''}${unit === 0 ? Math.round(rest) : rest.toFixed(1)} ${units[unit]}`;
}

export function signedSize(value: number): string {
  return value > 0 ? `+${size(value)}` : size(value);
}

export function signedCount(value: number): string {
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${count(Math.abs(value))}`;
}
