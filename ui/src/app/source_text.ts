// The text of a source file: as it was kept in the recording, else from the disk of the machine that shows the page.

import type { Engine } from '../wire/engine';
import { readSource } from '../wire/recordings';

export type ReadText = (path: string) => Promise<string | null>;

// `generated`: for what this file was made from, to which its source map leads.
export function textReader(engine: Engine, file: number, generated?: string): ReadText {
  return async (path) => {
    const { is_kept, bytes } = await engine.ask({ view: 'text', file: file || undefined, path });
    return is_kept ? new TextDecoder().decode(bytes) : readSource(path, generated);
  };
}
