// Where a step of reasoning ends: after a blank line (a delimiter token where the models have no text), with the
// answer, or at a limit.
import { refuseKnob } from '../core/knobs.ts';
import type { PlannedRun, RunContext } from '../core/system.ts';

export type StepEnd = 'delimiter' | 'stop' | 'length';

/** A complete step at the beginning of some tokens. */
export interface CompleteStep {
  /** Its tokens, including the delimiter. */
  readonly length: number;
  readonly ends: StepEnd;
}

interface DelimitedRun extends Pick<PlannedRun, 'hasText'> {
  readonly knobs: { readonly delimiter: number };
}

/** The text that ends a step. */
export const BLANK_LINE = '\n\n';

/** Refuses a boundary that cannot be seen. */
export const checkDelimiter = ({ knobs: { delimiter }, hasText }: DelimitedRun): void => {
  if (delimiter < 0 && !hasText)
    throw refuseKnob(
      'these models have no tokenizer, so a blank line cannot be seen',
      'Name the token that ends a step with the knob `delimiter`.',
    );
};

export class StepBoundary {
  readonly #delimiter: number;
  readonly #tokenText: (token: number) => string;
  readonly #stopTokens: ReadonlySet<number>;

  /** `delimiter`: a token that ends steps; below 0, a blank line of the text does. */
  constructor({ tokenText, stopTokens }: Pick<RunContext, 'tokenText' | 'stopTokens'>, delimiter: number) {
    this.#delimiter = delimiter;
    this.#tokenText = tokenText ?? (() => '');
    this.#stopTokens = stopTokens;
  }

  /**
   * The first step of `tokens`, if it is complete; `most` tokens complete it in any case. The first `known` tokens were
   * looked at before and do not end it.
   */
  firstStep(tokens: readonly number[], most: number, known = 0): CompleteStep | null {
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

/** The steps of a whole answer. */
export const splitIntoSteps = (
  boundary: StepBoundary,
  tokens: readonly number[],
  most: number,
): readonly (readonly number[])[] => {
  const steps: (readonly number[])[] = [];
  for (let rest = tokens; rest.length > 0; ) {
    const length = boundary.firstStep(rest, most)?.length ?? rest.length;
    steps.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return steps;
};
