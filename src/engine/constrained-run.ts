// The constraint of one run: compiled before the first round, followed from token to token, and reported at the end.
import type { ConstraintCompiler } from '../constraint/compile.ts';
import { kindOf } from '../constraint/constraint.ts';
import { ConstraintMatcher, deadEnd } from '../constraint/matcher.ts';
import { ReasoningConstraint } from '../constraint/reasoning.ts';
import { ConstrainedText, type TokenConstraint } from '../decode/core/constrained-text.ts';
import type { Commit } from '../decode/core/system.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import type { Emit, EventOf } from '../trace/index.ts';
import type { Job } from './job.ts';

type Opened = Extract<Parameters<Emit>[0], { type: 'constraint' }>;

export class ConstrainedRun {
  readonly text: ConstrainedText;
  readonly #constraint: TokenConstraint;
  /** Null: only reasoning has a limit. */
  readonly #matcher: ConstraintMatcher | null;
  readonly #kind: Opened['kind'];
  readonly #cached: boolean;

  private constructor(job: Job, tokenizer: Tokenizer, matcher: ConstraintMatcher | null, cached: boolean) {
    const { reasoning, constraint, models, limits, marks } = job;
    const reader = { tokenizer, vocabulary: models.target.vocabulary, marks, stopTokens: limits.stopTokens };
    const constrained = reasoning ? new ReasoningConstraint(reasoning, reader, matcher) : matcher;
    this.#constraint = constrained as TokenConstraint;
    this.#matcher = matcher;
    this.#kind = constraint ? kindOf(constraint) : 'reasoning';
    this.#cached = cached;
    this.text = new ConstrainedText(this.#constraint, deadEnd);
  }

  /** Null: the run has no constraint. Throws `bad-constraint` where it cannot be compiled, or allows no first token. */
  static async open(job: Job, compiler: ConstraintCompiler): Promise<ConstrainedRun | null> {
    const { constraint, reasoning, tokenizer, models, limits, marks, begin } = job;
    if (!tokenizer || !(constraint || reasoning)) return null;
    if (!constraint) return new ConstrainedRun(job, tokenizer, null, false);
    const { vocabulary } = models.target;
    const { compiled, cached } = await compiler.compile(constraint, {
      tokenizer,
      vocabulary,
      marks,
      stopTokens: limits.stopTokens,
    });
    const matcher = await ConstraintMatcher.open(compiled, begin);
    const first = await matcher.allowed([]);
    if (first.every((word) => word === 0)) {
      matcher[Symbol.dispose]();
      throw deadEnd();
    }
    return new ConstrainedRun(job, tokenizer, matcher, cached);
  }

  /** The event that tells of it. */
  opened(ms: number): Opened {
    return { type: 'constraint', kind: this.#kind, cached: this.#cached, ms };
  }

  /** What ends the answer where nothing may follow these tokens: no pass is needed to know. Null: it goes on. */
  async ending(answer: readonly number[]): Promise<Commit | null> {
    const tokens = await this.text.ending(answer);
    if (!tokens) return null;
    return {
      tokens,
      source: tokens.map(() => 'forced'),
      scores: tokens.map(() => ({ logprob: 0, top: [] })),
      last: 'complete',
    };
  }

  outcome(answer: readonly number[]): NonNullable<EventOf<'done'>['constraint']> {
    const forced = answer.filter((_, i) => this.#constraint.forced(answer.slice(0, i)) !== null).length;
    const masked = this.text.masked(answer.length);
    return { valid: this.#constraint.complete(answer), forced, masked, ms: this.#matcher?.ms ?? 0 };
  }

  [Symbol.dispose](): void {
    this.#matcher?.[Symbol.dispose]();
  }
}
