// The loop of all step routers: the draft writes a step, a rule accepts or escalates it, and an escalated step is
// written anew from the same prefix. An accepted step is one round, because none of it is certain before it was judged.
// An escalated step takes a round for every round of the system that writes it, so it streams and can be aborted.
// Between rounds both models' caches hold committed tokens only.
import type { Fault } from '../../base/errors.ts';
import type { Role } from '../../trace/index.ts';
import type { Commit, JudgedStep, Round, RoundContext, RunContext } from '../core/system.ts';
import type { Candidate, Candidates } from './candidates.ts';
import type { StepEnd } from './step-boundary.ts';
import { type StepRounds, type StepWriter, withinBudget } from './step-writer.ts';

/** What a rule decides on. */
export interface Question {
  /** From 1. */
  readonly step: number;
  readonly problem: readonly number[];
  /** The committed steps. */
  readonly steps: readonly JudgedStep[];
  /** At least one. */
  readonly candidates: readonly Candidate[];
  readonly context: RoundContext;
}

export interface Judgement {
  readonly by: Role;
  readonly accept: boolean;
  /** Null where the step could not be scored. */
  readonly score: number | null;
  readonly threshold: number;
  /** For people to read. */
  readonly reason: string;
  /** The candidate that was judged. Default: the first. */
  readonly chosen?: number;
  /** What the score was computed from. */
  readonly signals?: { readonly logprob: number; readonly grounding: number | null };
  /** Tokens that the target wrote for the judgement. */
  readonly written?: number;
  /** Milliseconds of the judge, where the rule took time for other work too. */
  readonly judgeMs?: number;
  /** Why there is no score. */
  readonly fault?: Fault;
}

export type Rule = (question: Question) => Promise<Judgement>;

export interface RouteOptions {
  readonly draft: Candidates;
  /** Null: every step of the draft is kept. */
  readonly rule: Rule | null;
  /** Who writes escalated steps, and all steps once the draft's context is full. Null: the answer ends there. */
  readonly target: StepWriter | null;
  /** The most tokens of a step, and the most steps of an answer. */
  readonly most: { readonly tokens: number; readonly steps: number };
}

/** A step as it is told. */
export const stepEvent = (
  step: number,
  { tokens, by }: JudgedStep,
  { ends, begin }: { readonly ends: StepEnd; readonly begin: number },
) => ({ type: 'step' as const, step, by, tokens: tokens.length, ids: tokens, ends, ms: performance.now() - begin });

/** An escalated step that is being written. */
interface Escalated {
  readonly rounds: StepRounds;
  readonly tokens: number[];
  readonly begin: number;
}

export const route = (run: RunContext, { draft, rule, target, most }: RouteOptions): Round => {
  const problem = [...run.sequence.tokens];
  const steps: JudgedStep[] = [];
  let escalated: Escalated | null = null;

  const finish = (
    { emit }: RoundContext,
    step: JudgedStep,
    how: { readonly ends: StepEnd; readonly begin: number; readonly written: number | undefined },
  ): Pick<Commit, 'last'> => {
    steps.push(step);
    const spent = how.written === undefined ? {} : { written: how.written };
    emit({ ...stepEvent(steps.length, step, how), ...spent });
    return steps.length >= most.steps ? { last: true } : {};
  };

  const continueStep = async (current: Escalated, context: RoundContext): Promise<Commit> => {
    const { commit, ends, written } = await current.rounds(context);
    current.tokens.push(...commit.tokens);
    const over = ends ?? (commit.tokens.length >= context.sequence.budget ? 'length' : null);
    const { begin } = current;
    const step: JudgedStep = { tokens: [...current.tokens], by: 'target' };
    if (over === null) return { ...commit, unfinished: stepEvent(steps.length + 1, step, { ends: 'stop', begin }) };
    escalated = null;
    return { ...commit, ...finish(context, step, { ends: over, begin, written }) };
  };

  const escalate = async (
    context: RoundContext,
    begin: number,
    refused: readonly number[] = [],
  ): Promise<Escalated | null> => {
    const rounds = await target?.begin(steps.length + 1, most.tokens, context, refused);
    return rounds ? { rounds, tokens: [], begin } : null;
  };

  return async (context) => {
    if (escalated) return continueStep(escalated, context);
    const begin = performance.now();
    const { emit, round, sequence } = context;
    const step = steps.length + 1;
    const candidates = await draft.write(sequence.tokens, most.tokens, { ...context, step });
    if (!candidates) {
      escalated = await escalate(context, begin);
      if (!escalated) return { tokens: [], source: [], scores: [], last: true };
      return continueStep(escalated, context);
    }
    const asked = performance.now();
    const judgement = await rule?.({ step, problem, steps, candidates, context });
    context.signal.throwIfAborted();
    const { chosen = 0, written, judgeMs = performance.now() - asked } = judgement ?? {};
    if (judgement?.accept === false) {
      draft.drop();
      escalated = await escalate(context, begin, candidates[chosen]?.tokens);
    }
    if (judgement) {
      const { by, score, threshold, signals, fault } = judgement;
      const unwritten = !judgement.accept && !escalated;
      emit({
        type: 'route',
        round,
        step,
        by,
        to: escalated ? 'target' : 'draft',
        score,
        threshold,
        reason: unwritten ? `${judgement.reason}; the target could not be asked` : judgement.reason,
        chosen,
        judge_ms: judgeMs,
        ...(signals && { signals }),
        ...(fault && { fault }),
      });
    }
    if (escalated) return continueStep(escalated, context);
    if (judgement?.accept !== false) draft.keep(chosen);
    const { tokens, logprobs, ends: whole } = candidates[chosen] as Candidate;
    const { kept, ends } = withinBudget(tokens, whole, sequence.budget);
    return {
      tokens: kept,
      source: kept.map(() => 'drafted' as const),
      scores: logprobs.slice(0, kept.length).map((logprob) => ({ logprob, top: [] })),
      ...finish(context, { tokens: kept, by: 'draft' }, { ends, begin, written }),
    };
  };
};
