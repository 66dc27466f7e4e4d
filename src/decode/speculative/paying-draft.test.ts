// How much of a draft is verified, against a search through every size; and what matches teach of their chances.
import { describe, expect, it } from 'vitest';
import { paddedRows } from '../../base/pass-rows.ts';
import { expectedCost } from '../core/round-cost.ts';
import { Timings } from '../core/timings.ts';
import { MatchAcceptance } from './match-acceptance.ts';
import { payingDraft } from './paying-draft.ts';

const proposed = (chances: readonly number[]) => ({
  tree: { tokens: chances.map((_, i) => i), parents: chances.map((_, i) => i - 1) },
  chances,
  distributions: null,
  nodes: chances.length,
  passes: 0,
});
const timed = (costs: Readonly<Record<number, number>>): Timings => {
  const timings = new Timings();
  for (let i = 0; i < 3; i++) timings.addPlain(10);
  for (const [rows, cost] of Object.entries(costs))
    for (let i = 0; i < 3 && rows !== '1'; i++) timings.addRound(`0+${rows}`, 10 * cost);
  return timings;
};
const SLOW = { 1: 1, 2: 1.3, 4: 1.8, 8: 2.4, 12: 4.4, 16: 4.5 };
const FLAT = { 1: 1, 2: 1.01, 4: 1.02, 8: 1.04, 12: 1.07, 16: 1.1 };

describe('the rows that pay', () => {
  it.each([SLOW, FLAT])('are those with most tokens for their time: %j', (costs) => {
    const cost = expectedCost(timed(costs));
    for (let forced = 0; forced < 6; forced++)
      for (const rate of [0.05, 0.3, 0.5, 0.7, 0.9, 0.97]) {
        const certain = Array.from({ length: forced + 1 }, () => 1);
        const chances = [...certain, ...Array.from({ length: 15 - forced }, (_, i) => rate ** (i + 1))];
        const rates = chances.map((_, i) => {
          const tokens = chances.slice(0, i + 1).reduce((sum, chance) => sum + chance, 0);
          return tokens / (costs[paddedRows(i + 1) as keyof typeof costs] as number);
        });
        const best = rates.indexOf(Math.max(...rates.slice(forced)), forced);
        const paying = payingDraft(proposed(chances), cost);
        expect(paying.rate).toBeCloseTo(rates[best] as number, 10);
        expect(paying.draft?.nodes ?? forced + 1).toBe(best + 1);
      }
  });

  it('are few where rows are dear, and all where they are cheap', () => {
    const chances = Array.from({ length: 16 }, (_, i) => 0.9 ** i);
    expect(payingDraft(proposed(chances), expectedCost(timed(SLOW))).draft?.nodes).toBe(8);
    expect(payingDraft(proposed(chances), expectedCost(timed(FLAT))).draft?.nodes).toBe(16);
    // By the curve alone where nothing was timed, and by one size where only that was.
    expect(payingDraft(proposed(chances), expectedCost(null)).draft?.nodes).toBe(8);
    expect(payingDraft(proposed(chances), expectedCost(timed({ 1: 1, 8: 1.04 }))).draft?.nodes).toBe(16);
  });
});

it('a round that drafted and verified nothing does not price the others', () => {
  const timings = timed({ 1: 1 });
  for (let i = 0; i < 3; i++) timings.addRound('1+1', 13);
  const cost = expectedCost(timings, 0.1);
  expect(cost({ nodes: 1, passes: 1 })).toBeCloseTo(1.3, 10);
  expect(cost({ nodes: 2, passes: 1 })).toBe(expectedCost(null, 0.1)({ nodes: 2, passes: 1 }));
});

describe('the chances of a match', () => {
  /** What follows is kept with this probability, whatever is verified of it. */
  const chanceAfter = (kept: number, length: number): number => {
    const acceptance = new MatchAcceptance();
    const tree = { tokens: [0, 1], parents: [-1, 0], shares: [1, 1] };
    for (let i = 0; i < 400; i++) {
      acceptance.propose(tree, length);
      acceptance.observe([i % 10 < 10 * kept ? 1 : 2]);
    }
    return acceptance.propose(tree, length).chances[1] as number;
  };

  it('are those of matches of that length', () => {
    for (const length of [1, 2, 3, 5, 40])
      for (const kept of [0.1, 0.6]) {
        expect(chanceAfter(kept, length)).toBeGreaterThan(kept - 0.1);
        expect(chanceAfter(kept, length)).toBeLessThan(kept + 0.1);
      }
  });

  it('fall along a draft and with the share of the places; a node never comes before its parent', () => {
    const tree = { tokens: [0, 1, 2, 3, 4], parents: [-1, 0, 0, 1, 3], shares: [1, 0.25, 0.75, 1, 1] };
    const { chances, tree: sorted } = new MatchAcceptance().propose(tree, 2);
    expect(sorted).toEqual({ tokens: [0, 2, 1, 3, 4], parents: [-1, 0, 0, 2, 3] });
    expect(chances).toEqual([...chances].sort((a, b) => b - a));
  });
});
