// A judge's view of a text. It knows which tokens have been read, so of a continued text only the new rows are
// computed; and it keeps the answer of every row.
import { checkAborted, OutriderError } from '../base/errors.ts';
import { bad } from '../base/refuse.ts';
import { commonPrefix } from '../decode/core/common-prefix.ts';
import type { Judge, JudgeCursor, JudgedStep } from '../decode/core/system.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import type { LayOut } from './input-layout.ts';
import { answerOf } from './row-score.ts';

/** A judge, and what must agree with its target's. */
export interface VocabularyJudge extends Judge {
  readonly vocabulary: number;
  readonly tokenizer: Tokenizer | null;
  /** False where it reads text. */
  readonly sharesVocabulary: boolean;
}

/** What reads tokens: logits of each, after the `length` it holds. */
export interface Reader extends Disposable {
  /** The most tokens that it can hold. */
  readonly capacity: number;
  rewind(length: number): void;
  read(tokens: readonly number[], signal?: AbortSignal): Promise<readonly ArrayLike<number>[]>;
}

/** Throws `bad-request` where a text is longer than a judge can read. */
export const checkRoom = (tokens: number, capacity: number): void => {
  if (tokens <= capacity) return;
  const overflow = { requested: tokens, context: capacity };
  throw new OutriderError('bad-request', `${tokens} tokens exceed the ${capacity} that this judge can read`, '', {
    overflow,
  });
};

/** A score that is no number would be below every threshold, or above it. */
export const checkScores = (scores: readonly number[]): void => {
  if (scores.some(Number.isNaN))
    throw bad('the judge gives no number for a token', 'Its weights hold a NaN: download it again.');
};

export class TextCursor implements JudgeCursor {
  readonly capacity: number;
  readonly #reader: Reader;
  readonly #layOut: LayOut;
  /** What the reader holds, and the score at each token. */
  #tokens: number[] = [];
  #scores: number[] = [];
  #question: string | null = null;

  constructor(reader: Reader, layOut: LayOut, capacity: number) {
    this.#reader = reader;
    this.#layOut = layOut;
    this.capacity = capacity;
  }

  forget(): void {
    this.#tokens = [];
    this.#scores = [];
    this.#reader.rewind(0);
  }

  ask(question: string | null): void {
    this.#question = question;
  }

  async score(
    problem: readonly number[],
    steps: readonly JudgedStep[],
    drafted: readonly (readonly number[])[],
    signal?: AbortSignal,
  ): Promise<readonly number[]> {
    const { context, candidates } = this.#layOut({ tokens: problem, question: this.#question }, steps, drafted);
    const scores: number[] = [];
    for (const candidate of candidates) {
      checkAborted(signal);
      scores.push(await this.#read([...context, ...candidate], signal));
    }
    return scores;
  }

  /** The score at the last of these tokens. */
  async #read(tokens: readonly number[], signal: AbortSignal | undefined): Promise<number> {
    checkRoom(tokens.length, this.#reader.capacity);
    const known = commonPrefix(this.#tokens, tokens);
    if (known < tokens.length) {
      this.#tokens.length = known;
      this.#scores.length = known;
      this.#reader.rewind(known);
      const rest = tokens.slice(known);
      const scores = (await this.#reader.read(rest, signal)).map((row) => answerOf(row).score);
      checkScores(scores);
      this.#tokens.push(...rest);
      this.#scores.push(...scores);
    }
    return this.#scores[tokens.length - 1] as number;
  }

  [Symbol.dispose](): void {
    this.#reader[Symbol.dispose]();
  }
}
