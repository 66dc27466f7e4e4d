// SpecGuard's score of a step, from the draft's own pass: how sure the draft was of its least certain token, and how
// much of the worst grounded token's attention reaches the prompt and the accepted steps.
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

/** The least of a step's tokens; `grounding` is null where it is not used. */
export interface Signals {
  readonly logprob: number;
  readonly grounding: number | null;
}

/** Both signals on a scale from 0 to 1, weighed by β. */
export const weigh = ({ logprob, grounding }: Signals, ranges: Ranges, beta: number) => {
  const certainty = normalized(logprob, ranges.logprob);
  const support = ranges.grounding && grounding !== null ? normalized(grounding, ranges.grounding) : 0;
  // What each signal is short of its share of a full score.
  const unsure = beta * (1 - certainty);
  const ungrounded = (1 - beta) * (1 - support);
  const weakness =
    beta > 0 && unsure >= ungrounded
      ? 'a token that it was unsure of'
      : 'a token whose attention reaches too little of the sources';
  return { score: beta * certainty + (1 - beta) * support, weakness };
};

export const specguardScore =
  ({ select, ranges, beta }: SpecGuardOptions): ScoreStep =>
  async ({ candidates }) => {
    const chosen = await select(candidates);
    const { logprobs, grounding } = candidates[chosen] as Candidate;
    const signals = { logprob: Math.min(...logprobs), grounding: ranges.grounding && Math.min(...grounding) };
    return { ...weigh(signals, ranges, beta), chosen, signals };
  };
