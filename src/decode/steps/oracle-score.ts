// The oracle's score: the target writes every step too, apart from the committed text, and the score is how much better
// a reward model finds the target's step.

import type { Commit, JudgeCursor, Score, Sequence } from '../core/system.ts';
import { scoresOf, TOO_LONG } from './judge-score.ts';
import type { StepModels } from './open-steps.ts';
import type { Question } from './route.ts';
import type { StepEnd } from './step-boundary.ts';
import { routed, type StepWriter, withinBudget } from './step-writer.ts';
import type { ScoreStep } from './threshold-rule.ts';

interface WholeStep {
  readonly step: number;
  readonly commit: Commit;
  readonly tokens: readonly number[];
  readonly ends: StepEnd;
}

export const oracleScore = (
  { nested, most, context: room }: Pick<StepModels, 'nested' | 'most' | 'context'>,
  judge: JudgeCursor,
): { readonly score: ScoreStep; readonly target: StepWriter } => {
  /** The target's version of the latest step: it is committed where that step is escalated. */
  let alternative: WholeStep | null = null;

  /** Writes the step after the committed text, in rounds whose tokens are not committed. */
  const writeAlternative = async ({ step, context, candidates: [own] }: Question): Promise<WholeStep> => {
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
      emit({
        type: 'candidates',
        round,
        step,
        by: 'target',
        tokens: [written],
        written: written.length,
        passes: 0,
        ms,
      });
      return { step, commit: routed({ tokens: written, scores }), tokens: written, ends };
    }
  };

  const score: ScoreStep = async (question) => {
    const { candidates, context } = question;
    alternative = await writeAlternative(question);
    const { tokens } = alternative;
    const own = candidates[0]?.tokens ?? [];
    const asked = performance.now();
    const scores = await scoresOf(judge, question, [own, tokens], context.signal);
    const judgeMs = performance.now() - asked;
    nested.forget(context.sequence.tokens.length);
    if (!scores) return { ...TOO_LONG, judgeMs };
    const [draft = 0, target = 0] = scores;
    return { score: target - draft, written: tokens.length, judgeMs };
  };

  const target: StepWriter = {
    async begin(step, longest, context, refused) {
      const whole = alternative;
      if (whole?.step !== step) return nested.begin(step, longest, context, refused);
      return async ({ sequence }) => {
        const { tokens, scores } = whole.commit;
        const { kept, ends } = withinBudget(tokens, whole.ends, sequence.budget);
        const commit = routed({ tokens: kept, scores: scores?.slice(0, kept.length) ?? null });
        return { commit, ends, written: tokens.length };
      };
    },
  };
  return { score, target };
};
