// What the oracle does: the target writes every step too, beside the text, and a reward model says whose is kept.

import type { Commit, JudgeCursor, Score, Sequence } from '../core/system.ts';
import { type Author, routed } from './escalate.ts';
import type { StepModels } from './open-steps.ts';
import type { Question, RouteOptions, Rule } from './route.ts';
import type { StepEnd } from './step-boundary.ts';

interface WholeStep {
  readonly commit: Commit;
  readonly tokens: readonly number[];
  readonly ends: StepEnd;
}

export const oracleRule = (
  { nested, most, context: room }: Pick<StepModels, 'nested' | 'most' | 'context'>,
  judge: JudgeCursor,
  threshold: number,
): Pick<RouteOptions, 'rule' | 'target'> => {
  /** What the target would write, if it has been asked to; kept for the case that it is to. */
  let alternative: WholeStep | null = null;

  /** The step behind the text, in rounds that nobody sees. */
  const ask = async ({ step, context, candidates: [own] }: Question): Promise<WholeStep> => {
    const tokens = [...context.sequence.tokens];
    const base = tokens.length;
    const sequence: Sequence = {
      ...context.sequence,
      tokens,
      get budget() {
        return room - tokens.length;
      },
    };
    const rounds = nested.write(step, Math.min(most.tokens, room - base), sequence, own?.tokens ?? []);
    const scores: Score[] = [];
    const begin = performance.now();
    for (;;) {
      const { commit, ends } = await rounds({ ...context, sequence });
      tokens.push(...commit.tokens);
      scores.push(...(commit.scores ?? []));
      if (!ends) continue;
      const written = tokens.slice(base);
      const { round, emit } = context;
      const ms = performance.now() - begin;
      // Its passes are in the events of the nested system.
      const told = { tokens: [written], written: written.length, passes: 0, ms };
      emit({ type: 'candidates', round, step, by: 'target', ...told });
      return { commit: routed({ tokens: written, scores }), tokens: written, ends };
    }
  };

  const rule: Rule = async (question) => {
    const { problem, steps, candidates, context } = question;
    const theirs = await ask(question);
    const own = candidates[0]?.tokens ?? [];
    const [draft = 0, target = 0] = await judge.score(problem, steps, [own, theirs.tokens], context.signal);
    const score = target - draft;
    const accept = score <= threshold;
    nested.forget(context.sequence.tokens.length);
    alternative = accept ? null : theirs;
    const written = theirs.tokens.length;
    const reason = accept ? "the target's step is no better" : "the target's step is better";
    return { by: 'prm', accept, score, threshold, reason, written };
  };

  const target: Author = {
    async begin(step, longest, context, refused) {
      const whole = alternative;
      if (!whole) return nested.begin(step, longest, context, refused);
      return async ({ sequence }) => {
        const { tokens, scores, source } = whole.commit;
        const kept = Math.min(tokens.length, sequence.budget);
        const commit = { tokens: tokens.slice(0, kept), source: source.slice(0, kept), scores: scores?.slice(0, kept) };
        return { commit: { ...commit, scores: commit.scores ?? null }, ends: whole.ends, written: tokens.length };
      };
    },
  };
  return { rule, target };
};
