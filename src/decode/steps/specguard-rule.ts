// SpecGuard's decision: of the candidates one is chosen, and the draft's own pass says how it went: how sure the least
// sure token was, and how well the worst grounded one rests on what was there before the step.
import { type Ranges, within } from './calibration.ts';
import type { Candidate } from './candidates.ts';
import type { Rule } from './route.ts';

export type Select = (candidates: readonly Candidate[]) => Promise<number>;

export interface GuardOptions {
  readonly select: Select;
  readonly ranges: Ranges;
  /** Of the log-probability; the rest is the grounding's. */
  readonly beta: number;
  readonly threshold: number;
}

export const specguardRule =
  ({ select, ranges, beta, threshold }: GuardOptions): Rule =>
  async ({ candidates }) => {
    const chosen = await select(candidates);
    const { logprobs, grounding: grounded } = candidates[chosen] as Candidate;
    const logprob = Math.min(...logprobs);
    const grounding = ranges.grounding && Math.min(...grounded);
    const sure = within(logprob, ranges.logprob);
    const rests = ranges.grounding && grounding !== null ? within(grounding, ranges.grounding) : 0;
    const score = beta * sure + (1 - beta) * rests;
    const accept = score >= threshold;
    const weaker =
      beta * sure < (1 - beta) * rests ? 'a token that it was unsure of' : 'a token that rests on too little';
    const reason = accept
      ? 'sure and grounded enough'
      : `${ranges.grounding ? weaker : 'a token that it was unsure of'}`;
    return { by: 'draft', accept, score, threshold, reason, chosen, signals: { logprob, grounding } };
  };
