// What a run and its baseline cost in forward passes, in words. Noise cannot move these figures.
import { SYSTEMS } from '../../src/index.ts';
import { fold, METRICS } from '../../src/trace/index.ts';
import { many } from '../shared/words.ts';
import type { Outcome } from './outcome.ts';

const joins = ({ system }: Outcome): boolean => SYSTEMS.find(({ id }) => id === system)?.joins ?? false;

/**
 * “6 passes of the large model instead of 69, plus 6 of the drafter”. Every model of an ensemble votes on every token, so
 * its passes are counted together.
 */
export const passesText = (run: Outcome, plain: Outcome | null): string => {
  const together = joins(run);
  const count = together ? METRICS.passes : METRICS.target_passes;
  const own = `${many(fold(count, run.events), 'pass', 'passes')} of ${together ? 'all models' : 'the large model'}`;
  const instead = plain ? ` instead of ${fold(count, plain.events)}` : '';
  const drafted = together ? 0 : fold(METRICS.draft_passes, run.events);
  return `${own}${instead}${drafted > 0 ? `, plus ${drafted} of the drafter` : ''}`;
};
