// Turns committed tokens into an answer: finds its end (a stop token, a stop string, the budget) and the text that is
// certain. A round may commit tokens past the end; they are dropped here and nowhere else.
import type { Choice } from '../../model/interface.ts';
import { type StopMatcher, stopMatcher } from '../../text/stop.ts';
import type { TextStream } from '../../text/text-stream.ts';
import type { Tokenizer } from '../../text/tokenizer.ts';
import type { Emit, Role, Source, TokenLogprob, TokenText, TokenVote } from '../../trace/index.ts';
import type { Commit, Vote } from './system.ts';

export interface Limits {
  readonly maxTokens: number;
  /** Stop strings are not looked for in so many tokens. */
  readonly minTokens?: number;
  readonly stopTokens: ReadonlySet<number>;
  readonly stopStrings: readonly string[];
}

export interface Ending {
  readonly finish_reason: 'stop' | 'length';
  readonly stop: number | string | null;
}

const OUT_OF_ROOM: Ending = { finish_reason: 'length', stop: null };
const COMPLETE: Ending = { finish_reason: 'stop', stop: null };

/** The part of a commit that belongs to the answer. */
export interface Kept {
  readonly tokens: readonly number[];
  readonly source: readonly Source[];
  readonly text: string | null;
  /** What each token added to `text`; absent where there is text and no token. */
  readonly pieces?: readonly string[];
  readonly logprobs: readonly TokenLogprob[] | null;
  readonly by?: readonly (Role | null)[];
  readonly votes?: readonly TokenVote[];
}

export class Transcript {
  ending: Ending | null;
  readonly #limits: Limits;
  readonly #tokenizer: Tokenizer | null;
  readonly #stream: TextStream | null;
  readonly #matcher: StopMatcher;
  readonly #texts = new Map<number, string>();
  #length = 0;
  #text = '';

  /**
   * Without a tokenizer there is no text, only tokens. `shown`: special tokens that are a part of the text. `within`: it
   * continues another.
   */
  constructor(limits: Limits, tokenizer: Tokenizer | null, shown: ReadonlySet<number> = new Set(), within = false) {
    this.#limits = limits;
    this.ending = limits.maxTokens === 0 ? OUT_OF_ROOM : null;
    this.#tokenizer = tokenizer;
    this.#stream = tokenizer?.stream({ shown, within }) ?? null;
    this.#matcher = stopMatcher(limits.stopStrings);
  }

  /** The commit up to the end of the answer, including the token that ends it. */
  take({ tokens, source, scores, by, votes, last }: Commit, withLogprobs: boolean): Kept {
    const before = this.#text.length;
    const ends: number[] = [];
    for (const [i, token] of tokens.entries()) {
      if (this.ending) break;
      this.#push(token);
      if (last && i === tokens.length - 1) this.ending ??= last === true ? OUT_OF_ROOM : COMPLETE;
      if (this.ending) this.#flush();
      ends.push(this.#text.length);
    }
    if (last && !this.ending) {
      this.ending = last === true ? OUT_OF_ROOM : COMPLETE;
      this.#flush(); // an empty commit: what was held back is certain now
    }
    const kept = ends.length;
    const scored = withLogprobs ? scores?.slice(0, kept) : undefined;
    return {
      tokens: tokens.slice(0, kept),
      source: source.slice(0, kept),
      text: this.#stream && this.#text.slice(before),
      ...(this.#stream &&
        (kept > 0 || this.#text.length === before) && {
          pieces: ends.map((end, i) => this.#text.slice(ends[i - 1] ?? before, end)),
        }),
      logprobs:
        scored?.map(({ logprob, top }, i) => ({
          ...this.#scored({ token: tokens[i] as number, logprob }),
          top: top.map((choice) => this.#scored(choice)),
        })) ?? null,
      ...(by && { by: by.slice(0, kept) }),
      ...(votes && { votes: votes.slice(0, kept).map((vote) => this.#withText(vote)) }),
    };
  }

  /** The text of each of an event's tokens, for people to read; null without a tokenizer. */
  tokenText(event: Parameters<Emit>[0]): { readonly pieces: readonly (string | readonly string[])[] } | null {
    if (!this.#tokenizer) return null;
    const tokenText = (tokens: readonly number[]): string[] => tokens.map((token) => this.textOf(token) ?? '');
    if (event.type === 'draft') return { pieces: tokenText(event.tokens) };
    if (event.type === 'candidates') return { pieces: event.tokens.map(tokenText) };
    return event.type === 'step' && event.ids ? { pieces: tokenText(event.ids) } : null;
  }

  /** Remembered by token: drafts repeat tokens, and decoding sixty nodes anew would slow every round down. */
  textOf(token: number): string | null {
    if (!this.#tokenizer) return null;
    const known = this.#texts.get(token) ?? this.#tokenizer.decode([token], { special: true, within: true });
    this.#texts.set(token, known);
    return known;
  }

  /** The whole answer, including text that was held back. Call it at the end, also of an aborted run. */
  end(): string | null {
    this.#flush();
    return this.#stream && this.#text;
  }

  #push(token: number): void {
    const { maxTokens, minTokens = 0, stopTokens } = this.#limits;
    this.#length++;
    if (stopTokens.has(token)) {
      this.ending = { finish_reason: 'stop', stop: token };
      return;
    }
    const text = this.#stream?.push([token]) ?? '';
    this.#text += this.#length > minTokens ? this.#matcher.push(text) : text;
    if (this.#matcher.stopped !== null) this.ending = { finish_reason: 'stop', stop: this.#matcher.stopped };
    else if (this.#length === maxTokens) this.ending = OUT_OF_ROOM;
  }

  #flush(): void {
    this.#text += this.#matcher.push(this.#stream?.end() ?? '') + this.#matcher.end();
  }

  #withText({ r, own }: Vote): TokenVote {
    return { r, own: own.map((each) => ({ ...each, text: this.textOf(each.token) })) };
  }

  #scored({ token, logprob }: Choice): TokenText {
    return { token, text: this.textOf(token), logprob };
  }
}
