// A step's score by a judge: a process reward model or a router.
import { checkAborted, sharedFault } from '../../base/errors.ts';
import type { JudgeCursor } from '../core/system.ts';
import type { Candidate } from './candidates.ts';
import type { ScoreStep } from './threshold-rule.ts';

/**
 * Steps without a score are the target's to write: those of a text longer than the judge can read, and all steps of
 * this run after a dispensable judge failed.
 */
export const judgeScore = (judge: JudgeCursor): ScoreStep => {
  let failed = false;
  return async ({ problem, steps, candidates: [candidate], context }) => {
    if (failed) return { score: null, reason: 'the judge failed earlier in this run and is not asked again' };
    const { tokens } = candidate as Candidate;
    const length = [problem, tokens, ...steps.map((step) => step.tokens)].reduce((sum, part) => sum + part.length, 0);
    if (length > judge.capacity) return { score: null, reason: 'the text is longer than the judge can read' };
    try {
      const [score] = await judge.score(problem, steps, [tokens], context.signal);
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
