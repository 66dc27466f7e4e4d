// The sentences under a structured answer, from its events.
import type { EventOf, Metrics } from '../../src/trace/index.ts';
import { many } from '../shared/words.ts';

/** Whether the answer has its form. `null`: it is still being written. */
export const validityText = (done: EventOf<'done'> | null, written: boolean): string => {
  if (!done) return written ? 'Fits the form so far' : 'The prompt is read';
  if (done.constraint?.valid) return '✓ Valid: the answer has this form';
  if (done.finish_reason === 'length') return '✗ Cut off at the token limit: not valid yet';
  return '✗ Stopped: not valid yet';
};

/** What the constraint saved and cost. Plain decoding without a constraint takes one pass for each token. */
export const savingsText = (
  { tokens, target_passes: passes }: Pick<Metrics, 'tokens' | 'target_passes'>,
  { forced, masked }: NonNullable<EventOf<'done'>['constraint']>,
): string =>
  [
    `${many(tokens, 'token')} with ${many(passes, 'pass', 'passes')} of the target`,
    `${forced} forced by the form, without a pass of their own`,
    `${many(masked, 'time')} the model’s first choice did not fit the form`,
  ].join(' · ');
