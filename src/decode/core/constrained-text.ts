// What a constraint says about the next token of a text, in the one order that every system keeps to: text that must come
// is written without asking the model; a token that the model drew stays if it is allowed; otherwise the model draws again
// among the allowed ones.
import type { Choice } from '../../model/interface.ts';

/** A constraint that follows a text (constraint/matcher.ts). Every answer depends on the text alone. */
export interface TokenConstraint {
  allows(text: readonly number[], token: number): boolean;
  allowed(text: readonly number[]): Promise<Uint32Array>;
  forced(text: readonly number[]): number | null;
  /** The token that ends text which must come. The model may write another one, whose text goes on. */
  expected(text: readonly number[]): number | null;
  /** Nothing may follow but the end. */
  ends(text: readonly number[]): Promise<boolean>;
  complete(text: readonly number[]): boolean;
  readonly stopTokens: ReadonlySet<number>;
}

/** A token without a choice, whether or not the model was asked: what is reported of it must not depend on that. */
export const certain = (token: number): Choice => ({ token, logprob: 0 });

export class ConstrainedText {
  readonly #constraint: TokenConstraint;
  readonly #deadEnd: () => Error;
  /** Where in the answer the model drew again. */
  readonly #masked = new Set<number>();

  /** `deadEnd`: the error where no token may follow. */
  constructor(constraint: TokenConstraint, deadEnd: () => Error) {
    this.#constraint = constraint;
    this.#deadEnd = deadEnd;
  }

  /**
   * Draws of an answer of so many tokens that needed a mask. A round may draw past its end, or be timed and draw the same
   * token twice.
   */
  masked(tokens: number): number {
    return [...this.#masked].filter((at) => at < tokens).length;
  }

  /**
   * The token after this text; null: the answer ends there, without a token. `choice`: what the model drew; `draw`: draws
   * again, among these. `unread`: text of this round comes before it, in which a stop string may have ended the answer. So
   * the round ends before a dead end there, and the next one finds it if the answer goes on.
   */
  async next(
    text: readonly number[],
    choice: Choice,
    draw: (allowed: Uint32Array) => Promise<Choice>,
    unread = false,
  ): Promise<Choice | null> {
    if (this.#isOver(text)) return null;
    const forced = this.#constraint.forced(text);
    if (forced !== null) return certain(forced);
    // A token that goes on shows that the text does, so no mask is needed to know it.
    const allows = this.#constraint.allows(text, choice.token);
    if (allows && !this.#constraint.stopTokens.has(choice.token)) return choice;
    const ending = await this.ending(text);
    if (ending) {
      const [stop] = ending;
      return stop === undefined ? null : { ...certain(stop), ends: true };
    }
    if (allows) return choice;
    const allowed = await this.#constraint.allowed(text);
    if (allowed.every((word) => word === 0)) {
      if (unread) return null;
      throw this.#deadEnd();
    }
    this.#masked.add(text.length);
    return draw(allowed);
  }

  /** Whether a draft of this token after this text can be kept. */
  allows(text: readonly number[], token: number): boolean {
    return !this.#isOver(text) && this.#constraint.allows(text, token);
  }

  /** The tokens that must follow this text, at most so many. */
  forced(text: readonly number[], most: number): readonly number[] {
    const tokens: number[] = [];
    if (this.#isOver(text)) return tokens;
    while (tokens.length < most) {
      const next = this.#constraint.forced([...text, ...tokens]);
      if (next === null) break;
      tokens.push(next);
    }
    return tokens;
  }

  /** What the model most likely writes after this text, because its text must come; null: it is free. */
  expected(text: readonly number[]): number | null {
    return this.#isOver(text) ? null : this.#constraint.expected(text);
  }

  /** Where nothing may follow this text: the token that ends the answer, if the model has one. Null: it goes on. */
  async ending(text: readonly number[]): Promise<readonly number[] | null> {
    if (!(await this.#constraint.ends(text))) return null;
    return [...this.#constraint.stopTokens].slice(0, 1);
  }

  #isOver(text: readonly number[]): boolean {
    const last = text.at(-1);
    return last !== undefined && this.#constraint.stopTokens.has(last);
  }
}
