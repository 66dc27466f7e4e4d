// Rounds on trial: what rounds of each size take on this device, before one of them is chosen. Nothing of them is kept.
// They are timed in turns and only once: figures of another moment, on a busier machine, could not be compared.
import type { Cursor } from '../../model/interface.ts';
import { roundName } from '../core/fallback.ts';
import type { RunContext } from '../core/system.ts';
import { type Drafter, plainRound } from './speculate.ts';

/** Rounds of a size that count; one more warms up. */
const SURE = 4;

/** Sizes whose rounds the device cannot tell apart have one name; apart from what later rounds take. */
const trialName = (size: number): string => `trial ${roundName({ nodes: size, passes: size > 1 ? 1 : 0 })}`;

/**
 * Milliseconds of a round of each size; 1 is a plain one, and so is a round of which nothing is proposed. `timings`
 * remembers them for as long as the models are loaded. The cursors are where they were afterwards.
 */
export const roundTimes = async (
  target: Cursor,
  ofSize: (size: number) => Pick<Drafter, 'propose'>,
  sizes: readonly number[],
  { timings, sequence, signal }: Pick<RunContext, 'timings' | 'sequence' | 'signal'>,
): Promise<readonly number[]> => {
  const { length } = target;
  const once = async (size: number): Promise<void> => {
    signal.throwIfAborted();
    const start = performance.now();
    const draft = size > 1 ? await ofSize(size).propose(sequence, size - 1) : null;
    if (draft) await target.forward(draft.tree).verify(draft.distributions, sequence.sampling);
    else await plainRound(target, sequence);
    timings.add(trialName(size), performance.now() - start);
    target.rewind(length);
  };
  const different = sizes.filter((size, i) => sizes.findIndex((other) => trialName(other) === trialName(size)) === i);
  for (let turn = 0; turn <= SURE; turn++)
    for (const size of different) if (timings.least(trialName(size), SURE) === null) await once(size);
  return sizes.map((size) => timings.least(trialName(size), SURE) as number);
};
