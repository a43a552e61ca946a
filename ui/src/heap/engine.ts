// Heap snapshots are too large for a browser: the server answers, or the page holds the replies to a few questions.

import { encodeQuery, type Query } from '../wire/engine';
import type { HeapReplies } from '../wire/generated';
import { decodeBase64, fetched, isServed, listed } from '../wire/recordings';
import { parseReply } from '../wire/reply';

export type HeapViewName = keyof HeapReplies;
export type HeapAsk<V extends HeapViewName> = Query & { view: V };

type Read = (question: string) => Promise<ArrayBuffer>;

const kMaxKept = 128;

export class HeapEngine {
  private readonly kept = new Map<string, Promise<unknown>>();
  private waiting = 0;

  private constructor(
    private readonly read: Read,
    readonly isWhole: boolean, // every question has an answer
  ) {}

  // Null where the page is about something else.
  static async find(): Promise<HeapEngine | null> {
    const inside = document.querySelectorAll<HTMLScriptElement>('script[data-question]');
    if (inside.length > 0) return new HeapEngine(readFrom([...inside]), false);
    if (!isServed() || !(await listed()).some(({ heap }) => heap)) return null;
    return new HeapEngine(async (question) => (await fetched(`heap?${question}`)).arrayBuffer(), true);
  }

  ask<V extends HeapViewName>(query: HeapAsk<V>): Promise<HeapReplies[V]> {
    const question = encodeQuery(query);
    let reply = this.kept.get(question);
    if (!reply) {
      reply = this.askNow(question);
      reply.catch(() => this.kept.delete(question));
      this.kept.set(question, reply);
      if (this.kept.size > kMaxKept) this.kept.delete(this.kept.keys().next().value!);
    }
    return reply as Promise<HeapReplies[V]>;
  }

  private async askNow(question: string): Promise<unknown> {
    this.showBusy(1);
    try {
      const reply = parseReply(await this.read(question)) as { error?: string };
      if (reply.error) throw new Error(reply.error);
      return reply;
    } finally {
      this.showBusy(-1);
    }
  }

  private showBusy(change: number): void {
    this.waiting += change;
    document.body.setAttribute('aria-busy', String(this.waiting > 0));
  }
}

function readFrom(elements: HTMLScriptElement[]): Read {
  const replies = new Map(elements.map((element) => [element.dataset.question!, element]));
  return async (question) => {
    const element = replies.get(question);
    if (!element) throw new Error('This file holds the largest objects only. nodescope view shows all of them.');
    return decodeBase64(element.textContent ?? '').buffer;
  };
}
