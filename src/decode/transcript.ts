// From committed tokens to an answer: where it ends (a stop token, a stop string, the budget) and which text is certain.
// A round may commit past the end; what lies behind it is dropped here and nowhere else.
import { type StopMatcher, stopMatcher } from '../text/stop.ts';
import type { TextStream } from '../text/text-stream.ts';
import type { Source } from '../trace.ts';
import type { Commit, Score } from './system.ts';

export interface Limits {
  readonly maxTokens: number;
  readonly stopTokens: ReadonlySet<number>;
  readonly stopStrings: readonly string[];
}

export interface Ending {
  readonly finish_reason: 'stop' | 'length';
  readonly stop: number | string | null;
}

export interface Kept {
  readonly tokens: readonly number[];
  readonly source: readonly Source[];
  readonly scores: readonly Score[] | null;
  readonly text: string | null;
}

export class Transcript {
  ending: Ending | null = null;
  readonly #limits: Limits;
  readonly #stream: TextStream | null;
  readonly #matcher: StopMatcher;
  #length = 0;
  #text = '';

  /** Without a stream there is no text, only tokens. */
  constructor(limits: Limits, stream: TextStream | null) {
    this.#limits = limits;
    this.#stream = stream;
    this.#matcher = stopMatcher(limits.stopStrings);
  }

  /** The commit up to the end of the answer, the token that ends it included. */
  take({ tokens, source, scores }: Commit): Kept {
    const before = this.#text.length;
    let kept = 0;
    while (kept < tokens.length && !this.ending) this.#push(tokens[kept++] as number);
    if (this.ending) this.#flush();
    return {
      tokens: tokens.slice(0, kept),
      source: source.slice(0, kept),
      scores: scores?.slice(0, kept) ?? null,
      text: this.#stream && this.#text.slice(before),
    };
  }

  /** The whole answer. Called at the end, also of an aborted run, because it lets go of held-back text. */
  end(): string | null {
    this.#flush();
    return this.#stream && this.#text;
  }

  #push(token: number): void {
    const { maxTokens, stopTokens } = this.#limits;
    this.#length++;
    if (stopTokens.has(token)) {
      this.ending = { finish_reason: 'stop', stop: token };
      return;
    }
    this.#text += this.#matcher.push(this.#stream?.push([token]) ?? '');
    if (this.#matcher.stopped !== null) this.ending = { finish_reason: 'stop', stop: this.#matcher.stopped };
    else if (this.#length === maxTokens) this.ending = { finish_reason: 'length', stop: null };
  }

  #flush(): void {
    this.#text += this.#matcher.push(this.#stream?.end() ?? '') + this.#matcher.end();
  }
}
