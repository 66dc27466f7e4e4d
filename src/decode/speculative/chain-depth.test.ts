import { describe, expect, it } from 'vitest';
import { paddedRows } from '../../base/pass-rows.ts';
import { expectedCost, type RoundKind } from '../core/round-cost.ts';
import { Timings } from '../core/timings.ts';
import { ChainDepth } from './chain-depth.ts';

/** Its tokens are written one after another. */
const CHAIN = { most: 8, nodes: (depth: number) => depth + 1, passes: (depth: number) => depth };

/** The median of the last 50 rounds: now and then a deeper draft is tried. */
const depthAfter = (kept: (round: number) => number, cost: (kind: RoundKind) => number, rounds = 200): number => {
  const chain = new ChainDepth({ ...CHAIN, cost, places: [] });
  const depths = Array.from({ length: rounds }, (_, round) => {
    const { depth } = chain.best;
    chain.add(depth, Math.min(depth, kept(round)));
    return depth;
  });
  return depths.slice(-50).toSorted((a, b) => a - b)[25] as number;
};

/** Every draft costs as much of a plain round. */
const each =
  (share: number) =>
  ({ passes }: RoundKind): number =>
    1 + share * passes;

describe('the depth of a chain', () => {
  it('is what commits most tokens for its time', () => {
    // Always as many are kept: two drafts of every round, whatever follows.
    expect(depthAfter(() => 2, each(0.2))).toBe(2);
    expect(depthAfter(() => 8, each(0.2))).toBe(8);
    expect(depthAfter((round) => (round % 2 === 0 ? 0 : 8), each(0.02))).toBe(8);
  });

  it('is one where nothing is kept, and grows again when the text changes', () => {
    expect(depthAfter(() => 0, each(0.2))).toBe(1);
    expect(depthAfter((round) => (round < 200 ? 0 : 8), each(0.2), 400)).toBe(8);
  });

  it('comes back to places that were not reached for a while', () => {
    // The third draft and those after it are refused at first, so that two are drafted; later all are kept.
    expect(depthAfter((round) => (round < 30 ? 2 : 8), each(0.2), 100)).toBe(8);
  });

  it('knows of rows that are padded: a third draft is free where four rows are computed anyway', () => {
    const padded = ({ nodes, passes }: RoundKind) => paddedRows(nodes) / 8 + 1 + 0.01 * passes;
    const kept = (round: number) => (round % 3 === 0 ? 0 : 3);
    expect(depthAfter(kept, padded)).toBe(3);
  });

  it('is judged by a shallower one, where only that was timed', () => {
    const timings = new Timings();
    for (let i = 0; i < 3; i++) timings.addPlain(10);
    for (let i = 0; i < 3; i++) timings.addRound('1+2', 12);
    // Two rows and a draft usually cost .4 of a plain round more, here .2; so half of what four rows and three do.
    const cost = expectedCost(timings, 0.1);
    expect(cost({ nodes: 2, passes: 1 })).toBeCloseTo(1.2);
    expect(cost({ nodes: 4, passes: 3 })).toBeCloseTo(1 + 0.5 * (1.8 + 0.3 - 1));
  });

  it('goes on with what an earlier run has shown', () => {
    const options = { ...CHAIN, cost: each(0.2), places: [] };
    const first = new ChainDepth(options);
    for (let round = 0; round < 100; round++) first.add(first.best.depth, 0);
    expect(new ChainDepth(options).best.depth).toBe(1);
    expect(new ChainDepth({ ...options, places: [] }).best.depth).toBeGreaterThan(1);
  });
});
