// Rounds on trial: what a drafter's rounds take on this device, before one is needed. Nothing of them is kept.
import type { Cursor } from '../model/model.ts';
import { type RoundKind, roundName } from './pace.ts';
import type { Drafter } from './speculate.ts';
import type { RunContext } from './system.ts';

/** Rounds that are timed: the choice stays for as long as the models are loaded. */
const SURE = 3;

/**
 * Milliseconds of a round of this kind; null where the drafter proposes nothing. Measured once for each set of models:
 * `timings` remembers. The target's cursor and the drafter's are where they were afterwards.
 */
export const roundTime = async (
  target: Cursor,
  drafter: Pick<Drafter, 'propose'>,
  kind: RoundKind,
  { timings, sequence, signal }: Pick<RunContext, 'timings' | 'sequence' | 'signal'>,
): Promise<number | null> => {
  const { length } = target;
  for (;;) {
    const known = timings.least(roundName(kind), SURE);
    if (known !== null) return known;
    signal.throwIfAborted();
    const start = performance.now();
    const draft = await drafter.propose(sequence, kind.nodes - 1);
    if (!draft) return null;
    await target.forward(draft.tree).verify(draft.laws, sequence.sampling);
    timings.add(roundName(kind), performance.now() - start);
    target.rewind(length);
  }
};
