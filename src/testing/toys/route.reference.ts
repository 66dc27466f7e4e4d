// Step routing on plain arrays: what every rule must commit, from the toy's logits and the toy judge's scores alone. It
// shares no code with the loop.
import type { JudgedStep } from '../../decode/core/system.ts';
import { distributionReference, drawReference } from '../../kernels/sampling/sample.reference.ts';
import type { Sampling } from '../../model/interface.ts';
import { type ToyDistribution, toyLogits } from './toy-model.ts';
import { toyChoice } from './toy-token-ring.ts';

export interface ReferenceStep extends JudgedStep {
  /** Least log-probability of its tokens. */
  readonly sure: number;
}

export interface ReferenceLimits {
  readonly delimiter: number;
  readonly stops: ReadonlySet<number>;
  /** Tokens of a step, and of a whole text. */
  readonly most: number;
  readonly context: number;
}

/** What a model writes after a text, up to the end of the step. */
export const writeReference = (
  distribution: ToyDistribution,
  by: JudgedStep['by'],
  text: readonly number[],
  sampling: Sampling,
  { delimiter, stops, most, context }: ReferenceLimits,
): ReferenceStep => {
  const tokens: number[] = [];
  let sure = 0;
  for (;;) {
    const so = [...text, ...tokens];
    const logits = toyLogits(distribution, so);
    const token = drawReference(distributionReference(logits, sampling), so.length, sampling.seed);
    tokens.push(token);
    sure = Math.min(sure, toyChoice(logits, token).logprob);
    const full = tokens.length === most || so.length + 1 === context;
    if (token === delimiter || stops.has(token) || full) return { tokens, by, sure };
  }
};

export type ReferenceRule = (
  draft: ReferenceStep,
  target: () => ReferenceStep,
  steps: readonly ReferenceStep[],
  text: readonly number[],
) => boolean;

export interface ReferenceRun {
  readonly draft: ToyDistribution;
  readonly target: ToyDistribution;
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  readonly maxSteps: number;
  readonly sampling: { readonly draft: Sampling; readonly target: Sampling };
  readonly limits: ReferenceLimits;
  /** Whether the draft's step stays. */
  readonly keeps: ReferenceRule;
}

/** Steps until a stop token, the budget, or too many steps; the last one may go beyond the budget. */
export const routeReference = (run: ReferenceRun): readonly ReferenceStep[] => {
  const { draft, target, prompt, maxTokens, maxSteps, sampling, limits, keeps } = run;
  const steps: ReferenceStep[] = [];
  const text = [...prompt];
  while (text.length < prompt.length + maxTokens && steps.length < maxSteps) {
    const own = writeReference(draft, 'draft', text, sampling.draft, limits);
    const theirs = () => writeReference(target, 'target', text, sampling.target, limits);
    const step = keeps(own, theirs, steps, text) ? own : theirs();
    steps.push(step);
    text.push(...step.tokens);
    if (limits.stops.has(step.tokens.at(-1) as number)) break;
  }
  return steps;
};
