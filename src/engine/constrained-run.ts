// The constraint of one run: compiled before the first round, followed from token to token, and reported at the end.
import type { ConstraintCompiler } from '../constraint/compile.ts';
import { kindOf } from '../constraint/constraint.ts';
import { ConstraintMatcher, deadEnd } from '../constraint/matcher.ts';
import { ConstrainedText } from '../decode/core/constrained-text.ts';
import type { Commit } from '../decode/core/system.ts';
import type { Emit, EventOf } from '../trace/index.ts';
import type { Job } from './job.ts';

type Opened = Extract<Parameters<Emit>[0], { type: 'constraint' }>;

export class ConstrainedRun {
  readonly text: ConstrainedText;
  readonly #matcher: ConstraintMatcher;
  readonly #kind: Opened['kind'];
  readonly #cached: boolean;

  private constructor(matcher: ConstraintMatcher, kind: Opened['kind'], cached: boolean) {
    this.#matcher = matcher;
    this.#kind = kind;
    this.#cached = cached;
    this.text = new ConstrainedText(matcher, deadEnd);
  }

  /** Null: the run has no constraint. Throws `bad-constraint` where it cannot be compiled, or allows no first token. */
  static async open(job: Job, compiler: ConstraintCompiler): Promise<ConstrainedRun | null> {
    const { constraint, tokenizer, models, limits } = job;
    if (!constraint || !tokenizer) return null;
    const { vocabulary } = models.target;
    const { compiled, cached } = await compiler.compile(constraint, {
      tokenizer,
      vocabulary,
      stopTokens: limits.stopTokens,
    });
    const matcher = await ConstraintMatcher.open(compiled);
    const first = await matcher.allowed([]);
    if (first.every((word) => word === 0)) {
      matcher[Symbol.dispose]();
      throw deadEnd();
    }
    return new ConstrainedRun(matcher, kindOf(constraint), cached);
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
    const forced = answer.filter((_, i) => this.#matcher.forced(answer.slice(0, i)) !== null).length;
    const { masked } = this.text;
    return { valid: this.#matcher.complete(answer), forced, masked, ms: this.#matcher.ms };
  }

  [Symbol.dispose](): void {
    this.#matcher[Symbol.dispose]();
  }
}
