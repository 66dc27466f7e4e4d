// Times a round of every block size on this device, before one of them is chosen. Nothing of these rounds is committed
// or told. All sizes are timed together, interleaved: times from different moments could not be compared on a busy
// machine. Sizes that the device pads to the same rows are timed one by one too, because draws and keys are not padded.
import type { Cursor } from '../../model/interface.ts';
import { plainRound } from '../core/plain-round.ts';
import type { RunContext } from '../core/system.ts';
import type { Drafter } from './drafter.ts';

/** Timed rounds of each size, after one that warms up. */
const ENOUGH = 4;

/** The prefix keeps them apart from rounds of the run itself. */
const timingName = (size: number): string => `size ${size}`;

/**
 * Milliseconds of a round of each size. Size 1 is a plain round, and so is one for which nothing is proposed. A block
 * shrinks to the tokens still wanted and to the rows still free, so of larger sizes the one that it shrinks to is timed.
 * `timings` remembers them for as long as the models are loaded. Afterwards the cursors are where they were. A time of 0
 * is of a clock too coarse to see it.
 */
export const timeBlockSizes = async (
  target: Cursor,
  ofSize: (size: number) => Pick<Drafter, 'propose'>,
  sizes: readonly number[],
  { timings, sequence, signal }: Pick<RunContext, 'timings' | 'sequence' | 'signal'>,
): Promise<readonly number[]> => {
  const { length } = target;
  const largest = Math.min(sequence.budget + 1, target.capacity - length);
  const fitting = sizes.map((size) => Math.min(size, largest));
  const once = async (size: number): Promise<void> => {
    signal.throwIfAborted();
    const start = performance.now();
    const draft = size > 1 ? await ofSize(size).propose(sequence, size - 1) : null;
    if (draft) await target.forward(draft.tree).verify(draft.distributions, sequence.sampling);
    else await plainRound(target, sequence);
    timings.add(timingName(size), performance.now() - start);
    target.rewind(length);
  };
  for (let repeat = 0; repeat <= ENOUGH; repeat++)
    for (const size of fitting) if (timings.least(timingName(size), ENOUGH) === null) await once(size);
  return fitting.map((size) => timings.least(timingName(size), ENOUGH) as number);
};
