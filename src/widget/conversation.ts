// A conversation and its next answer: the model sees the newest exchanges that are wanted and that fit its context.
import { withinContext } from '../api/context-window.ts';
import type { RunRequest } from '../engine/request.ts';
import type { ChatMessage } from '../text/chat-template.ts';
import type { TraceEvent } from '../trace/index.ts';

type Exchange = readonly [question: ChatMessage, answer: ChatMessage];

/** Settings of the next answer. */
export interface Asking {
  readonly system: string | null;
  /** Exchanges that the model sees at most. */
  readonly history: number;
  readonly maxTokens: number | null;
  run(request: Pick<RunRequest, 'prompt' | 'maxTokens'>): AsyncIterable<TraceEvent>;
  /** The model sees no exchange before this one any longer: the context is too short. */
  forget(before: number): void;
}

export class Conversation {
  #exchanges: readonly Exchange[] = [];
  /** Of the oldest, that did not fit: they do not come back with a shorter question. */
  #forgotten = 0;

  get messages(): readonly ChatMessage[] {
    return this.#exchanges.flat();
  }

  clear(): void {
    this.#exchanges = [];
    this.#forgotten = 0;
  }

  add(question: string, answer: string): void {
    this.#exchanges = [
      ...this.#exchanges,
      [
        { role: 'user', content: question },
        { role: 'assistant', content: answer },
      ],
    ];
  }

  ask(question: string, { system, history, maxTokens, run, forget }: Asking): AsyncIterable<TraceEvent> {
    const first = system ? [{ role: 'system', content: system }] : [];
    const exchanges = this.#exchanges;
    const start = Math.max(this.#forgotten, exchanges.length - history);
    return withinContext(
      exchanges.slice(start),
      maxTokens ?? undefined,
      (seen, limit) =>
        run({ prompt: { messages: [...first, ...seen, { role: 'user', content: question }] }, ...limit }),
      (turns) => {
        if (this.#exchanges !== exchanges) return; // cleared while the run began
        this.#forgotten = start + turns;
        forget(this.#forgotten);
      },
    );
  }
}
