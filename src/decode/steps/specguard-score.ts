// SpecGuard's score of a step, from the draft's own pass: how sure the draft was of its least certain token, and how
// well the worst grounded token rests on the prompt and the accepted steps.
import { normalized, type Ranges } from './calibration.ts';
import type { Candidate } from './candidates.ts';
import type { SelectCandidate } from './select-candidate.ts';
import type { ScoreStep } from './threshold-rule.ts';

export interface SpecGuardOptions {
  readonly select: SelectCandidate;
  readonly ranges: Ranges;
  /** Weight of the log-probability; that of the grounding is 1 − β. */
  readonly beta: number;
}

export const specguardScore =
  ({ select, ranges, beta }: SpecGuardOptions): ScoreStep =>
  async ({ candidates }) => {
    const chosen = await select(candidates);
    const { logprobs, grounding: grounded } = candidates[chosen] as Candidate;
    const logprob = Math.min(...logprobs);
    const grounding = ranges.grounding && Math.min(...grounded);
    const certainty = beta * normalized(logprob, ranges.logprob);
    const support = ranges.grounding && grounding !== null ? (1 - beta) * normalized(grounding, ranges.grounding) : 0;
    const ungrounded = ranges.grounding !== null && certainty >= support;
    return {
      score: certainty + support,
      chosen,
      signals: { logprob, grounding },
      weakness: ungrounded ? 'a token that rests on too little' : 'a token that it was unsure of',
    };
  };
