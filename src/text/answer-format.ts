// The parts of an answer: thoughts, text, and calls of tools. The engine says how the model writes them (the `format` of the
// `run` event); the facades read them with this.

import { type ThoughtFormat, ThoughtSplitter } from './thoughts.ts';
import { type CallEvent, CallParser } from './tool-calls/call-parser.ts';
import { familyById } from './tool-calls/families.ts';
import type { Tools } from './tool-calls/tools.ts';

/** How an answer is written. */
export interface AnswerFormat {
  /** The family whose form the calls have; null: the request has no tools. */
  readonly tools: string | null;
  readonly thoughts: ThoughtFormat | null;
}

export type AnswerPart = CallEvent | { readonly type: 'thought'; readonly text: string };

export class AnswerReader {
  readonly #thoughts: ThoughtSplitter | null;
  readonly #calls: CallParser | null;

  constructor({ tools: family, thoughts }: AnswerFormat, tools: Tools | undefined) {
    const known = family === null ? null : familyById(family);
    const most = tools?.parallel === false ? 1 : undefined;
    this.#thoughts = thoughts && new ThoughtSplitter(thoughts);
    this.#calls = known && tools ? new CallParser(known, tools.functions, most) : null;
  }

  /** The last piece was a part of the thoughts. */
  get thinking(): boolean {
    return this.#thoughts?.thinking ?? false;
  }

  /** A tool has been called. */
  get called(): boolean {
    return this.#calls?.called ?? false;
  }

  push(text: string): readonly AnswerPart[] {
    const { thought, answer } = this.#thoughts?.push(text) ?? { thought: '', answer: text };
    return this.#parts(thought, answer);
  }

  end(): readonly AnswerPart[] {
    const { thought, answer } = this.#thoughts?.end() ?? { thought: '', answer: '' };
    return [...this.#parts(thought, answer), ...(this.#calls?.end() ?? [])];
  }

  #parts(thought: string, answer: string): readonly AnswerPart[] {
    const own: AnswerPart[] = thought === '' ? [] : [{ type: 'thought', text: thought }];
    if (this.#calls) return [...own, ...this.#calls.push(answer)];
    return answer === '' ? own : [...own, { type: 'text', text: answer }];
  }
}
