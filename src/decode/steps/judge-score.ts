// A step's score by a judge: a process reward model or a router.
import { checkAborted, OutriderError, sharedFault } from '../../base/errors.ts';
import type { Cursor } from '../../model/interface.ts';
import type { JudgeCursor } from '../core/system.ts';
import type { Candidate } from './candidates.ts';
import type { Question } from './route.ts';
import type { ScoreStep, Unscored } from './threshold-rule.ts';

export const TOO_LONG: Unscored = { score: null, reason: 'the text is longer than the judge can read' };

/** The score of each candidate; null where the text is longer than the judge can read. `written`: as in `JudgeCursor`. */
export const scoresOf = async (
  judge: JudgeCursor,
  { problem, steps }: Pick<Question, 'problem' | 'steps'>,
  candidates: readonly (readonly number[])[],
  signal: AbortSignal,
  written?: Cursor,
): Promise<readonly number[] | null> => {
  const longest = Math.max(...candidates.map(({ length }) => length));
  if (steps.reduce((sum, { tokens }) => sum + tokens.length, problem.length + longest) > judge.capacity) return null;
  try {
    return await judge.score(problem, steps, candidates, signal, written);
  } catch (error) {
    // In the judge's own layout and vocabulary a text may have more tokens.
    if (error instanceof OutriderError && error.overflow) return null;
    throw error;
  }
};

/**
 * Steps without a score are the target's to write: those of a text longer than the judge can read, and all steps of
 * this run after a dispensable judge failed.
 */
export const judgeScore = (judge: JudgeCursor, written?: Cursor): ScoreStep => {
  let failed = false;
  return async ({ problem, steps, candidates: [candidate], context }) => {
    if (failed) return { score: null, reason: 'the judge failed earlier in this run and is not asked again' };
    try {
      const { tokens } = candidate as Candidate;
      const scores = await scoresOf(judge, { problem, steps }, [tokens], context.signal, written);
      if (!scores) return TOO_LONG;
      const [score] = scores;
      if (score === undefined) throw new Error('the judge gave no score');
      return { score };
    } catch (error) {
      checkAborted(context.signal);
      if (!judge.dispensable) throw error;
      failed = true;
      return { score: null, reason: 'the judge could not be asked', fault: sharedFault(error) };
    }
  };
};
