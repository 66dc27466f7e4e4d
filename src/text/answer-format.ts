// The parts of an answer: reasoning, text, and calls of tools. The engine says how the model writes them (the `format` of the
// `run` event); the facades read them with this.

import { type ReasoningFormat, ReasoningSplitter } from './reasoning.ts';
import { type CallEvent, CallParser } from './tool-calls/call-parser.ts';
import { familyById } from './tool-calls/families.ts';
import type { Tools } from './tool-calls/tools.ts';

/** How an answer is written. */
export interface AnswerFormat {
  /** The family whose form the calls have; null: the request has no tools. */
  readonly tools: string | null;
  readonly reasoning: ReasoningFormat | null;
}

/** A part of an answer, as it arrives: reasoning, text, or a piece of a tool call. */
export type AnswerPart = CallEvent | { readonly type: 'reasoning'; readonly text: string };

/** Divides the text of an answer into its parts, piece by piece, as it arrives. */
export class AnswerReader {
  readonly #reasoning: ReasoningSplitter | null;
  readonly #calls: CallParser | null;

  constructor({ tools: family, reasoning }: AnswerFormat, tools: Tools | undefined) {
    const known = family === null ? null : familyById(family);
    const { parallel, choice = 'auto' } = tools ?? {};
    const wanted = {
      ...(parallel === false && { most: 1 }),
      onlyCalls: choice === 'required' || typeof choice === 'object',
    };
    this.#reasoning = reasoning && new ReasoningSplitter(reasoning);
    this.#calls = known && tools ? new CallParser(known, tools.functions, wanted) : null;
  }

  /** The last piece was a part of the reasoning. */
  get inReasoning(): boolean {
    return this.#reasoning?.inside ?? false;
  }

  /** The last piece was a part of the text, as far as can be told: what may begin a tag or a call waits. */
  get inText(): boolean {
    return !this.inReasoning && !this.#calls?.inCalls;
  }

  /** A call of a tool has begun and has not ended. */
  get calling(): boolean {
    return this.#calls?.calling ?? false;
  }

  /** A tool has been called. */
  get called(): boolean {
    return this.#calls?.called ?? false;
  }

  /** The parts that `text`, the next piece of the answer, completes. What may begin a tag or a call waits. */
  push(text: string): readonly AnswerPart[] {
    const { reasoning, answer } = this.#reasoning?.push(text) ?? { reasoning: '', answer: text };
    return this.#parts(reasoning, answer);
  }

  /** The parts that were still waiting when the answer ended. */
  end(): readonly AnswerPart[] {
    const { reasoning, answer } = this.#reasoning?.end() ?? { reasoning: '', answer: '' };
    return [...this.#parts(reasoning, answer), ...(this.#calls?.end() ?? [])];
  }

  #parts(reasoning: string, answer: string): readonly AnswerPart[] {
    const own: AnswerPart[] = reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning }];
    if (this.#calls) return [...own, ...this.#calls.push(answer)];
    return answer === '' ? own : [...own, { type: 'text', text: answer }];
  }
}
