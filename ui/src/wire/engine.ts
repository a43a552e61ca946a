import EngineWorker from './engine_worker?worker&inline';
import type { Answer, Request } from './engine_worker';
import type { Replies } from './generated';
import { parseReply } from './reply';

export type ViewName = keyof Replies;

// A question about one view.
export type Ask<V extends ViewName> = Query & { view: V };

export type Query = Record<string, string | number | boolean | readonly (string | number)[] | null | undefined>;

// What the engine reads: absent and false keys are left out, a list of numbers is one value, a list of texts repeats its key.
export function encodeQuery(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === false || value === '') continue;
    if (Array.isArray(value)) {
      if (value.length === 0) continue;
      if (typeof value[0] === 'number') parameters.append(key, value.join(','));
      else for (const text of value) parameters.append(key, String(text));
    } else {
      parameters.append(key, value === true ? '1' : String(value));
    }
  }
  return parameters.toString();
}

// Replies are kept, so that going back to a view costs nothing.
const kMaxKept = 64;

export class Engine {
  private readonly worker = new EngineWorker();
  private readonly waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>();
  private readonly kept = new Map<string, Promise<unknown>>();
  private nextId = 1;

  constructor() {
    this.worker.onmessage = (event: MessageEvent<Answer>) => {
      const entry = this.waiting.get(event.data.id);
      this.waiting.delete(event.data.id);
      this.showBusy();
      if (event.data.error !== undefined) entry?.reject(new Error(event.data.error));
      else entry?.resolve(event.data);
    };
    this.worker.onerror = (event) => {
      for (const entry of this.waiting.values()) entry.reject(new Error(event.message || 'the engine could not be started'));
      this.waiting.clear();
    };
  }

  async start(wasm: ArrayBuffer): Promise<void> {
    await this.send({ wasm }, [wasm]);
  }

  async open(name: string, bytes: ArrayBuffer): Promise<void> {
    checked(await this.send({ open: { name, bytes } }, [bytes]));
  }

  ask<V extends ViewName>(query: Ask<V>): Promise<Replies[V]> {
    const text = encodeQuery(query);
    let reply = this.kept.get(text);
    if (reply) {
      this.kept.delete(text);
    } else {
      reply = this.send({ ask: text }).then(checked);
      reply.catch(() => this.kept.delete(text));
    }
    this.kept.set(text, reply);
    if (this.kept.size > kMaxKept) this.kept.delete(this.kept.keys().next().value!);
    return reply as Promise<Replies[V]>;
  }

  private showBusy(): void {
    document.body.setAttribute('aria-busy', String(this.waiting.size > 0));
  }

  private send(request: Omit<Request, 'id'>, transfer: Transferable[] = []): Promise<Answer> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.showBusy();
      this.worker.postMessage({ id, ...request }, transfer);
    });
  }
}

function checked(answer: Answer): unknown {
  const reply = parseReply(answer.reply!) as { error?: string };
  if (reply.error) throw new Error(reply.error);
  return reply;
}
