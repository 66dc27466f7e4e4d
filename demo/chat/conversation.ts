// A conversation as data: who said what, what is asked of the model next, and how editing a turn or asking once more
// changes it. What comes after a turn that changed was said in answer to something else, and goes.
import type { ChatMessage } from '../../src/index.ts';

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

const isQuestion = ({ role }: Turn): boolean => role === 'user';

export class Conversation {
  /** Before the first turn; empty: none. */
  system = '';
  #turns: readonly Turn[] = [];
  #forgotten = 0;

  /** Of the first turns, how many the model no longer sees because everything together did not fit its context. */
  get forgotten(): number {
    return this.#forgotten;
  }

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  /** Before the question at the end: those that the model sees, each question with its answer. */
  get exchanges(): readonly (readonly Turn[])[] {
    const before = this.#turns.slice(this.#forgotten, this.#turns.findLastIndex(isQuestion));
    const starts = before.flatMap((turn, i) => (isQuestion(turn) ? [i] : []));
    return starts.map((start, i) => before.slice(start, starts[i + 1]));
  }

  /** What the model is asked: the question at the end, after what it is to see of the rest. */
  asked(seen: readonly ChatMessage[]): readonly ChatMessage[] {
    const system = this.system.trim();
    const question = this.#turns.slice(this.#turns.findLastIndex(isQuestion));
    return [...(system ? [{ role: 'system', content: system }] : []), ...seen, ...question];
  }

  /** So many of `exchanges` did not fit; they do not come back with a shorter question. */
  forget(exchanges: number): void {
    this.#forgotten += this.exchanges.slice(0, exchanges).flat().length;
  }

  ask(content: string): void {
    this.#turns = [...this.#turns, { role: 'user', content }];
  }

  /** An answer that was stopped is kept as far as it went; an empty one is none. */
  answer(content: string): void {
    if (content !== '') this.#turns = [...this.#turns, { role: 'assistant', content }];
  }

  /** Another question in the place of this one, and nothing behind it. */
  edit(at: number, content: string): void {
    this.#turns = [...this.#turns.slice(0, at), { role: 'user', content }];
    if (at <= this.#forgotten) this.#forgotten = 0;
  }

  /** Forgets everything behind the last question; false where there is none. */
  retry(): boolean {
    const last = this.#turns.findLastIndex(isQuestion);
    this.#turns = this.#turns.slice(0, last + 1);
    return last >= 0;
  }

  clear(): void {
    this.#turns = [];
    this.#forgotten = 0;
  }
}
