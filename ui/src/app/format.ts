// Numbers in words: the unit is part of the number.  The terminal has the same units and rounds the same way.

// As toFixed, but a half goes to the even neighbour.
export function fixed(value: number, digits: number): string {
  const scaled = Math.abs(value) * 10 ** digits;
  // Only such a number can lie in the middle: 0.15 is not 0.15 in binary.
  const isHalf = Number.isInteger(value * 2 ** (digits + 1)) && scaled % 1 === 0.5;
  return (isHalf ? (Math.sign(value) * 2 * Math.round(scaled / 2)) / 10 ** digits : value).toFixed(digits);
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function percent(share: number, digits = 1): string {
  if (!Number.isFinite(share) || share === 0) return '0 %';
  const least = 0.5 * 10 ** -(digits + 2);
  if (share > 0 && share < least) return `<${(10 ** -digits).toFixed(digits)} %`;
  return `${fixed(share * 100, digits)} %`;
}

export function duration(ns: number): string {
  const seconds = ns / 1e9;
  if (ns === 0) return '0 s';
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
  if (seconds >= 120) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  if (seconds >= 10) return `${fixed(seconds, 1)} s`;
  if (seconds >= 1) return `${fixed(seconds, 2)} s`;
  if (seconds >= 0.001) return `${Math.round(seconds * 1000)} ms`;
  return `${Math.round(ns / 1000)} µs`;
}

export function bytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? Math.round(value) : fixed(value, 1)} ${units[unit]}`;
}

// What a sum of an event's unit is called.
export function weight(value: number, unit: string): string {
  if (unit === 'nanoseconds') return duration(value);
  if (unit === 'bytes') return bytes(value);
  return `${count(value)}${unit === 'samples' ? (Math.round(value) === 1 ? ' sample' : ' samples') : ''}`;
}

// Time from the start of the recording: "00:31.2", "2:00:31".
export function clock(ns: number, digits = 1): string {
  const scale = 10 ** digits;
  const total = Math.round((ns / 1e9) * scale) / scale;
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const seconds = (total % 60).toFixed(digits).padStart(digits > 0 ? 3 + digits : 2, '0');
  const mm = String(minutes).padStart(2, '0');
  return hours > 0 ? `${hours}:${mm}:${seconds}` : `${mm}:${seconds}`;
}

// Marks that change the direction of what follows, and control characters, are shown by their code: a name cannot disguise itself.
const kDisguises = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function plain(text: string, limit = 2000): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}… (${count(text.length)} characters)` : text;
  return cut.replace(kDisguises, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
}

// "/app/routes/a.js:88:12" -> "routes/a.js:88".
export function shortPlace(place: string, root: string): string {
  let text = root && place.startsWith(root) ? place.slice(root.length).replace(/^\//, '') : place;
  text = text.replace(/^file:\/\//, '');
  const modules = text.lastIndexOf('node_modules/');
  if (modules >= 0) text = text.slice(modules + 'node_modules/'.length);
  return text.replace(/^(.*:\d+):\d+$/, '$1');
}

export interface Position {
  file: string;
  line: number;
  column: number;
}

export function parsePlace(place: string): Position | null {
  const match = /^(.*?):(\d+)(?::(\d+))?$/.exec(place);
  return match ? { file: match[1], line: Number(match[2]), column: Number(match[3] ?? 0) } : null;
}

// A C++ name by its end, which tells more than its namespaces: "…::Serialize_<false>".
export function shortName(name: string, room: number): string {
  if (name.length <= room || !name.includes('::')) return name;
  const plainEnd = name.search(/[<(]/);
  const head = plainEnd < 0 ? name : name.slice(0, plainEnd);
  const at = head.lastIndexOf('::');
  return at < 0 ? name : `…${name.slice(at)}`;
}
