// Where a step of reasoning ends: behind a blank line (a delimiter token where a model has no text), with the text, or
// at a limit.
import { refuse } from '../../base/refuse.ts';
import type { RunContext } from '../core/system.ts';

export type StepEnd = 'delimiter' | 'stop' | 'length';

/** The first step of some tokens. */
export interface StepCut {
  /** Tokens, the delimiter included. */
  readonly length: number;
  readonly ends: StepEnd;
}

/** As text. */
export const BLANK_LINE = '\n\n';

export class Boundary {
  readonly #delimiter: number;
  readonly #tokenText: (token: number) => string;
  readonly #stopTokens: ReadonlySet<number>;

  /** `delimiter`: a token, or less than 0: a blank line of the text. */
  constructor({ tokenText, stopTokens }: Pick<RunContext, 'tokenText' | 'stopTokens'>, delimiter: number) {
    if (delimiter < 0 && !tokenText)
      throw refuse(
        'these models have no tokenizer, so a blank line cannot be seen',
        'Name the token that ends a step with the knob `delimiter`.',
      );
    this.#delimiter = delimiter;
    this.#tokenText = tokenText ?? (() => '');
    this.#stopTokens = stopTokens;
  }

  /**
   * The step that `tokens` begin with, if it is complete; at `most` tokens it ends in any case. `known`: so many of them
   * were looked at before, and do not end it.
   */
  cut(tokens: readonly number[], most: number, known = 0): StepCut | null {
    for (let i = known; i < tokens.length; i++) {
      const length = i + 1;
      if (this.#stopTokens.has(tokens[i] as number)) return { length, ends: 'stop' };
      if (this.#delimits(tokens, i)) return { length, ends: 'delimiter' };
      if (length >= most) return { length, ends: 'length' };
    }
    return null;
  }

  /** A vocabulary may write the two newlines as one token, as the end of a longer one, or as two. */
  #delimits(tokens: readonly number[], i: number): boolean {
    const token = tokens[i] as number;
    if (this.#delimiter >= 0) return token === this.#delimiter;
    const before = i > 0 ? this.#tokenText(tokens[i - 1] as number).slice(-1) : '';
    return (before + this.#tokenText(token)).includes(BLANK_LINE);
  }
}

/** Cuts a whole answer into its steps. */
export const stepsOf = (
  boundary: Boundary,
  tokens: readonly number[],
  most: number,
): readonly (readonly number[])[] => {
  const steps: (readonly number[])[] = [];
  for (let rest = tokens; rest.length > 0; ) {
    const length = boundary.cut(rest, most)?.length ?? rest.length;
    steps.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return steps;
};
