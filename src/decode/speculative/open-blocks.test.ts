// Blocks as large as pays: their size follows what is kept of them and what rows cost.
import { expect, it } from 'vitest';
import { chainOf } from '../core/chain.ts';
import type { RoundKind } from '../core/round-cost.ts';
import type { Sequence } from '../core/system.ts';
import type { Drafter, Outcome } from './drafter.ts';
import { payingBlocks } from './open-blocks.ts';

/** Fills blocks of one size in one pass. */
const ofSize = (rows: number): Drafter => ({
  by: 'dflash',
  propose: () => ({ tree: chainOf(Array<number>(rows).fill(7)), distributions: null, nodes: rows, passes: 1 }),
  observe: () => {},
});

/** Rows of the last of 100 blocks, of which `kept` drafts each are right. */
const rowsAfter = async (kept: number, cost: (kind: RoundKind) => number): Promise<number> => {
  const drafter = payingBlocks(ofSize, 16, { cost, places: [] });
  let rows = 0;
  for (let round = 0; round < 100; round++) {
    rows = (await drafter.propose({ tokens: [7] } as unknown as Sequence, 16))?.nodes ?? 0;
    const path = Array.from({ length: Math.min(kept, rows - 1) + 1 }, (_, i) => i);
    drafter.observe({ path } as unknown as Outcome);
  }
  return rows;
};

/** A block's one pass costs as much whatever its size is. */
const rowsCost =
  (each: number) =>
  ({ nodes, passes }: RoundKind): number =>
    1 + each * (nodes - 1) + 0.5 * passes;

it('a block has the rows that pay', async () => {
  expect(await rowsAfter(15, rowsCost(0.2))).toBe(16);
  expect(await rowsAfter(3, rowsCost(0.2))).toBe(4);
  expect(await rowsAfter(0, rowsCost(0.2))).toBe(2);
  expect(await rowsAfter(3, rowsCost(0))).toBe(16);
});
