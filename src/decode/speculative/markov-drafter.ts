// Drafts of a DSpark network: a block whose tokens are drawn from left to right, and the cut that keeps its first ones.
// On the device a cut costs nothing and spares nothing of the target's pass; on the host it spares rows of that pass and
// costs a second readback.
import { paddedRows } from '../../base/pass-rows.ts';
import type { Cursor, DraftLimit, MarkovCursor } from '../../model/interface.ts';
import { chainOf } from '../core/chain.ts';
import { greedySampling } from '../core/draft-sampling.ts';
import { assumedCost } from '../core/round-cost.ts';
import type { RunContext } from '../core/system.ts';
import type { Drafter } from './drafter.ts';
import type { AppendRows } from './taps.ts';
import { timeBlockSizes } from './time-block-sizes.ts';

/** A sampled draft has one token fewer than a dispatch can write distributions. */
const MOST_SAMPLED = 15;

export type Cut = { readonly rule: 'none' } | DraftLimit;

/**
 * How many drafts are verified. Keeping draft k depends on the tokens before draft k alone, so a sampled run stays
 * exact; for the same reason the schedule stops at the first drop and does not search for the best total.
 */
export const keptDrafts = (confidences: readonly number[], cut: Cut): number => {
  if (cut.rule === 'none') return confidences.length;
  if (cut.rule === 'schedule') {
    let [survival, expected, rate] = [1, 1, 1 / (cut.costs[0] as number)];
    for (const [n, confidence] of confidences.entries()) {
      survival *= confidence;
      expected += survival;
      const next = expected / (cut.costs[n + 1] as number);
      if (next <= rate) return n;
      rate = next;
    }
    return confidences.length;
  }
  let survival = 1;
  for (const [n, confidence] of confidences.entries()) {
    survival = cut.rule === 'each' ? confidence : survival * confidence;
    if (survival < cut.threshold) return n;
  }
  return confidences.length;
};

/**
 * Costs of the target's passes over 0 … `most` drafts. They are assumed where drafts are drawn at random, because one
 * seed would give two answers if they depended on the clock; and where the clock is too coarse to see a pass.
 */
export const passCosts = async (
  target: Cursor,
  most: number,
  random: boolean,
  run: Pick<RunContext, 'timings' | 'software' | 'sequence' | 'signal'>,
): Promise<readonly number[]> => {
  const rows = Array.from({ length: most + 1 }, (_, n) => n + 1);
  const assumed = rows.map((nodes) => assumedCost(run.software)({ nodes, passes: 0 }));
  if (random) return assumed;
  const chain = (size: number): Pick<Drafter, 'propose'> => ({
    propose({ tokens }) {
      const tree = chainOf(Array<number>(size).fill(tokens[tokens.length - 1] as number));
      return { tree, distributions: null, nodes: size, passes: 0 };
    },
  });
  // Passes are padded, so the times of a few sizes are those of all.
  const padded = rows.map(paddedRows);
  const sizes = [...new Set(padded)].map((size) => Math.min(size, most + 1));
  const times = await timeBlockSizes(target, chain, sizes, run);
  if (times.includes(0)) return assumed;
  return padded.map((size) => times[sizes.indexOf(Math.min(size, most + 1))] as number);
};

export interface MarkovOptions {
  /** Drafts of a block. */
  readonly size: number;
  /** Drafts are drawn from the drafter's distribution at temperature > 0; else they are its most probable tokens. */
  readonly sampled: boolean;
  readonly cut: () => Promise<Cut>;
  readonly cutBy: 'device' | 'host';
}

/** Drafts blocks of one size and verifies what the cut keeps of them. */
export const markovDrafter = (
  cursor: MarkovCursor,
  append: AppendRows,
  { size, sampled, cut: cutOf, cutBy }: MarkovOptions,
): Drafter => {
  let known: Cut | null = null;
  return {
    by: 'dspark',
    async propose({ tokens, budget, drafting }, most) {
      const random = sampled && drafting.temperature > 0;
      // Rows see each other, so a shorter block drafts other tokens. It shrinks to the tokens still wanted, of which
      // only what may be committed is verified.
      const room = cursor.capacity - cursor.length;
      const block = Math.min(size, budget, room - 1, random ? MOST_SAMPLED : size);
      if (block < 1 || most < 1 || cursor.length < tokens.length - 1) return null;
      known ??= await cutOf();
      const sampling = random ? drafting : greedySampling(drafting);
      const anchor = tokens[tokens.length - 1] as number;
      const confidence = known.rule !== 'none';
      const drafted = cursor.draft(anchor, block, sampling, { confidence });
      const kept = confidence && cutBy === 'host' ? keptDrafts(await drafted.confidences(), known) : block;
      const drafts = Math.min(kept, most);
      const tree = chainOf([anchor, ...drafted.tokens.slice(0, drafts)]);
      return {
        tree: known.rule !== 'none' && cutBy === 'device' ? { ...tree, limit: drafted.limit(known) } : tree,
        distributions: drafts > 0 ? (drafted.distributions?.slice(0, drafts) ?? null) : null,
        nodes: drafts + 1,
        passes: 1,
      };
    },
    observe: ({ pass, path, base }) => append(pass, path, base),
  };
};
