// The rule of every step router: a step has a score, and a threshold decides whether it is kept or escalated.
import type { Fault } from '../../base/errors.ts';
import type { Escalates, Role } from '../../trace/index.ts';
import type { Judgement, Question, Rule } from './route.ts';

/** A step's score. */
export interface StepScore extends Pick<Judgement, 'chosen' | 'signals' | 'written' | 'judgeMs'> {
  readonly score: number;
  /** Why this step would be escalated, where that differs from step to step. */
  readonly weakness?: string;
}

/** A step that could not be scored. It is escalated. */
export interface Unscored extends Pick<Judgement, 'judgeMs'> {
  readonly score: null;
  readonly reason: string;
  readonly fault?: Fault;
}

export type ScoreStep = (question: Question) => Promise<StepScore | Unscored>;

export interface ThresholdOptions {
  /** The model whose score it is. */
  readonly by: Role;
  readonly score: ScoreStep;
  readonly threshold: number;
  readonly escalates: Escalates;
  /** What to tell people about a step that was kept, or escalated. */
  readonly reasons: { readonly kept: string; readonly escalated: string };
}

export const thresholdRule =
  ({ by, score: scoreStep, threshold, escalates, reasons }: ThresholdOptions): Rule =>
  async (question) => {
    const scored = await scoreStep(question);
    if (scored.score === null) return { by, accept: false, threshold, ...scored };
    const { score, weakness = reasons.escalated, ...rest } = scored;
    const accept = escalates === 'high' ? score <= threshold : score >= threshold;
    return { by, accept, score, threshold, reason: accept ? reasons.kept : weakness, ...rest };
  };
