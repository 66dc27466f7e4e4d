// The loop of all step systems, once: the draft writes a step; a rule accepts it or escalates it; an escalated step is
// written anew from the same prefix. An accepted step is one round, because nothing of it is certain before it has been
// judged; an escalated one takes a round of the run for every round of the system that writes it, so that it streams and
// can be aborted. The judged text and the tokens of both models' caches are always the committed ones.
import { checkAborted, type Fault, sharedFault } from '../../base/errors.ts';
import type { Role } from '../../trace/index.ts';
import type { Commit, JudgeCursor, JudgedStep, Round, RoundContext, RunContext } from '../core/system.ts';
import type { Candidate, Candidates } from './candidates.ts';
import type { Author, StepRounds } from './escalate.ts';
import type { StepEnd } from './step-boundary.ts';

/** What a rule decides on. */
export interface Question {
  /** From 1. */
  readonly step: number;
  readonly problem: readonly number[];
  /** Kept so far. */
  readonly steps: readonly JudgedStep[];
  /** At least one. */
  readonly candidates: readonly Candidate[];
  readonly context: RoundContext;
}

export interface Judgement {
  readonly by: Role;
  readonly accept: boolean;
  /** Null where the judge could not read the step. */
  readonly score: number | null;
  readonly threshold: number;
  /** For people. */
  readonly reason: string;
  /** The candidate that it is about; the first by default. */
  readonly chosen?: number;
  /** What the score was made of. */
  readonly signals?: { readonly logprob: number; readonly grounding: number | null };
  /** Tokens that the target wrote so that it could be made. */
  readonly written?: number;
  /** Why there is no score. */
  readonly fault?: Fault;
}

export type Rule = (question: Question) => Promise<Judgement>;

export interface RouteOptions {
  readonly draft: Candidates;
  /** Null: every step of the draft is kept, and nobody is asked. */
  readonly rule: Rule | null;
  /** Null: as long as the draft has room for its steps, nobody else writes any. */
  readonly target: Author | null;
  /** Most tokens of a step, most steps of an answer. */
  readonly most: { readonly tokens: number; readonly steps: number };
}

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
    { tokens, by }: JudgedStep,
    how: { readonly ends: StepEnd; readonly begin: number; readonly written: number | undefined },
  ): Pick<Commit, 'last'> => {
    steps.push({ tokens, by });
    const { ends, begin, written } = how;
    const ms = performance.now() - begin;
    const spent = written === undefined ? {} : { written };
    emit({ type: 'step', step: steps.length, by, tokens: tokens.length, ids: tokens, ends, ms, ...spent });
    return steps.length >= most.steps ? { last: true } : {};
  };

  const goOn = async (current: Escalated, context: RoundContext): Promise<Commit> => {
    const { commit, ends, written } = await current.rounds(context);
    current.tokens.push(...commit.tokens);
    const over = ends ?? (commit.tokens.length >= context.sequence.budget ? 'length' : null);
    if (over === null) return commit;
    escalated = null;
    return {
      ...commit,
      ...finish(context, { tokens: current.tokens, by: 'target' }, { ends: over, begin: current.begin, written }),
    };
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
    if (escalated) return goOn(escalated, context);
    const begin = performance.now();
    const { emit, round, sequence } = context;
    const step = steps.length + 1;
    const candidates = await draft.write(sequence.tokens, most.tokens, { ...context, step });
    if (!candidates) {
      escalated = await escalate(context, begin);
      if (!escalated) return { tokens: [], source: [], scores: [], last: true };
      return goOn(escalated, context);
    }
    const judging = performance.now();
    const verdict = await rule?.({ step, problem, steps, candidates, context });
    context.signal.throwIfAborted();
    const judged = performance.now();
    const { chosen = 0, written } = verdict ?? {};
    if (verdict?.accept === false) {
      draft.drop();
      escalated = await escalate(context, begin, candidates[chosen]?.tokens);
    }
    if (verdict) {
      const { by, score, threshold, signals, fault } = verdict;
      const lost = !verdict.accept && !escalated;
      emit({
        type: 'route',
        round,
        step,
        by,
        to: escalated ? 'target' : 'draft',
        score,
        threshold,
        reason: lost ? `${verdict.reason}; the target could not be asked` : verdict.reason,
        chosen,
        judge_ms: judged - judging,
        ...(signals && { signals }),
        ...(fault && { fault }),
      });
    }
    if (escalated) return goOn(escalated, context);
    if (verdict?.accept !== false) draft.keep(chosen);
    const { tokens, logprobs, ends } = candidates[chosen] as Candidate;
    const kept = tokens.slice(0, sequence.budget);
    return {
      tokens: kept,
      source: kept.map(() => 'drafted' as const),
      scores: logprobs.slice(0, kept.length).map((logprob) => ({ logprob, top: [] })),
      ...finish(context, { tokens: kept, by: 'draft' }, { ends, begin, written }),
    };
  };
};

/**
 * Asks a judge for the step's score. What it cannot judge is the target's to write: a text that it cannot read to its end,
 * and every step of this run from where a dispensable judge failed.
 */
export const scoredBy = (
  by: 'prm' | 'router',
  judge: JudgeCursor,
  decide: (score: number) => Omit<Judgement, 'by' | 'score'>,
): Rule => {
  let gone = false;
  const unjudged = (reason: string) => ({ ...decide(0), by, accept: false, score: null, reason });
  return async ({ problem, steps, candidates: [candidate], context }) => {
    if (gone) return unjudged('the judge is left alone for the rest of this run');
    const { tokens } = candidate as Candidate;
    const length = [problem, tokens, ...steps.map((step) => step.tokens)].reduce((sum, part) => sum + part.length, 0);
    if (length > judge.capacity) return unjudged('longer than what the judge can read');
    try {
      const [score] = await judge.score(problem, steps, [tokens], context.signal);
      if (score === undefined) throw new Error(`the ${by} gave no score`);
      return { by, score, ...decide(score) };
    } catch (error) {
      checkAborted(context.signal);
      if (!judge.dispensable) throw error;
      gone = true;
      return { ...unjudged('the judge could not be asked'), fault: sharedFault(error) };
    }
  };
};
