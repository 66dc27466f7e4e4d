import { describe, expect, it } from 'vitest';
import { paddedRows } from '../../base/pass-rows.ts';
import type { RoundKind } from '../core/round-cost.ts';
import { ChainDepth } from './chain-depth.ts';

const depthAfter = (kept: (round: number) => number, cost: (kind: RoundKind) => number, rounds = 200): number => {
  const chain = new ChainDepth({ most: 8, cost, nodes: (depth) => depth + 1, places: [] });
  for (let round = 0; round < rounds; round++) {
    const { depth } = chain;
    chain.add(depth, Math.min(depth, kept(round)));
  }
  return chain.depth;
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

  it('knows of rows that are padded: a third draft is free where four rows are computed anyway', () => {
    const padded = ({ nodes, passes }: RoundKind) => paddedRows(nodes) / 8 + 1 + 0.01 * passes;
    const kept = (round: number) => (round % 3 === 0 ? 0 : 3);
    expect(depthAfter(kept, padded)).toBe(3);
  });
});
