// A conversation as data: its messages, what the model is asked next, and how editing a message or asking again changes
// it. Messages after a changed one are removed, because they answered the old text.
import { inTurn } from '../../src/api/in-turn.ts';
import type { ChatMessage } from '../../src/index.ts';

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

const isQuestion = ({ role }: Message): boolean => role === 'user';

export class Conversation {
  /** System prompt before the first message; empty: none. */
  system = '';
  #messages: readonly Message[] = [];
  #forgotten = 0;

  /** Number of messages, from the first, that no longer fit the model's context. */
  get forgotten(): number {
    return this.#forgotten;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** What the model sees before the last question, each question with its answer. */
  get exchanges(): readonly (readonly Message[])[] {
    const before = this.#messages.slice(this.#forgotten, this.#messages.findLastIndex(isQuestion));
    const starts = before.flatMap((message, i) => (isQuestion(message) ? [i] : []));
    return starts.map((start, i) => before.slice(start, starts[i + 1]));
  }

  /**
   * The prompt: the system prompt, the visible messages and the last question. A question that was stopped before its
   * answer began is one message with the next.
   */
  asked(seen: readonly ChatMessage[]): readonly ChatMessage[] {
    const system = this.system.trim();
    const question = this.#messages.slice(this.#messages.findLastIndex(isQuestion));
    return inTurn([...(system ? [{ role: 'system', content: system }] : []), ...seen, ...question]);
  }

  /** Drops the first `exchanges`, which did not fit. They stay dropped, even before a shorter question. */
  forget(exchanges: number): void {
    this.#forgotten += this.exchanges.slice(0, exchanges).flat().length;
  }

  ask(content: string): void {
    this.#messages = [...this.#messages, { role: 'user', content }];
  }

  /** Takes the last question out again, and gives its text. */
  takeBack(): string {
    const question = this.#messages.at(-1);
    if (!question || !isQuestion(question)) return '';
    this.#messages = this.#messages.slice(0, -1);
    return question.content;
  }

  /** Adds an answer, which may be incomplete; an empty one is ignored. */
  answer(content: string): void {
    if (content !== '') this.#messages = [...this.#messages, { role: 'assistant', content }];
  }

  /** Replaces a question and removes all messages after it. */
  edit(at: number, content: string): void {
    this.#messages = [...this.#messages.slice(0, at), { role: 'user', content }];
    if (at <= this.#forgotten) this.#forgotten = 0;
  }

  /** Removes all messages after the last question; false if there is none. */
  retry(): boolean {
    const last = this.#messages.findLastIndex(isQuestion);
    this.#messages = this.#messages.slice(0, last + 1);
    return last >= 0;
  }

  /** Takes up a conversation that was kept. */
  restore(messages: readonly Message[]): void {
    this.#messages = messages;
  }
}
