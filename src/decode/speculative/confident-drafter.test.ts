// How far a drafter goes that says how sure it is, what tree that gives, and what of it is verified.
import { describe, expect, it } from 'vitest';
import type { Choice, FeatureCursor } from '../../model/interface.ts';
import type { RoundKind } from '../core/round-cost.ts';
import type { Sequence } from '../core/system.ts';
import { confidentDrafter } from './confident-drafter.ts';
import type { Outcome } from './drafter.ts';
import { payingDraft } from './paying-draft.ts';

const ANCHOR = 100;

/** Place i drafts token 10 (i + 1) with this probability; the next token has a fifth of it. */
const layer = (probabilities: readonly number[], capacity = 50) => {
  const asked: number[] = [];
  const cursor = {
    length: 2,
    capacity,
    async chainWhile(depth: number, n: number, more: (best: readonly Choice[]) => boolean) {
      const places: Choice[][] = [];
      for (const [i, probability] of probabilities.slice(0, depth).entries()) {
        const best = Array.from({ length: n }, (_, k) => ({
          token: 10 * (i + 1) + k,
          logprob: Math.log(probability / 5 ** k),
        }));
        places.push(best);
        if (!more(best)) break;
      }
      asked.push(places.length);
      return places;
    },
  } as unknown as FeatureCursor;
  return { cursor, asked };
};
const cost = ({ nodes, passes }: RoundKind): number => 1 + 0.25 * (nodes - 1) + 0.1 * passes;
const text = { tokens: [1, 2, ANCHOR] } as unknown as Sequence;
const draft = async (probabilities: readonly number[], { width = 1, nodes = 8, most = 16, capacity = 50 } = {}) => {
  const { cursor } = layer(probabilities, capacity);
  return confidentDrafter(cursor, { by: 'eagle3', width, nodes, cost }, () => {}).propose(text, most);
};

describe('a draft by confidence', () => {
  it('goes on while all of it is kept with more than one half', async () => {
    expect((await draft([0.9, 0.8, 0.6, 0.9]))?.passes).toBe(3); // .9 · .8 · .6 = .43
    expect((await draft([0.4, 0.9]))?.passes).toBe(1);
    expect((await draft(Array(12).fill(0.99)))?.passes).toBe(8);
  });

  it('ends at the answer’s end and at the end of the context', async () => {
    expect((await draft([0.99, 0.99, 0.99], { most: 2 }))?.passes).toBe(2);
    expect((await draft([0.99, 0.99, 0.99], { capacity: 3 }))?.passes).toBe(1);
    expect(await draft([0.99], { most: 0 })).toBeNull();
    expect(await draft([0.99], { capacity: 2 })).toBeNull();
  });

  it('is a chain with one token a place, and has leaves next to it with two; the likeliest first', async () => {
    const chain = await draft([0.9, 0.8, 0.5]);
    expect(chain?.tree).toEqual({ tokens: [ANCHOR, 10, 20, 30], parents: [-1, 0, 1, 2] });
    const tree = await draft([0.7, 0.9], { width: 2 });
    expect(tree?.tree).toEqual({ tokens: [ANCHOR, 10, 20, 11, 21], parents: [-1, 0, 1, 0, 1] });
    expect(tree?.chances?.map((chance) => Math.round(1000 * chance))).toEqual([1000, 700, 630, 140, 126]);
  });

  it('has no more drafts than it may', async () => {
    const tree = await draft(Array(12).fill(0.99), { width: 3, nodes: 4 });
    expect(tree?.passes).toBe(4);
    expect(tree?.tree).toEqual({ tokens: [ANCHOR, 10, 20, 30, 40], parents: [-1, 0, 1, 2, 3] });
  });

  it('is verified as far as it pays; where nothing does, the anchor alone, because it was paid for', async () => {
    const verified = async (probabilities: readonly number[]) => {
      const proposal = await draft(probabilities, { width: 2 });
      return payingDraft({ ...proposal, chances: proposal?.chances } as Parameters<typeof payingDraft>[0], cost).draft;
    };
    expect((await verified([0.95, 0.9, 0.2]))?.nodes).toBe(3);
    const none = await verified([0.1]);
    expect(none?.tree).toEqual({ tokens: [ANCHOR], parents: [-1] });
    expect(none?.passes).toBe(1);
  });

  it('knows what its rounds were worth', async () => {
    const { cursor } = layer([0.9]);
    const drafter = confidentDrafter(cursor, { by: 'eagle3', width: 1, nodes: 8, cost }, () => {});
    const rate = async (kept: number): Promise<number> => {
      for (let i = 0; i < 60; i++) {
        await drafter.propose(text, 16);
        drafter.observe({
          path: Array.from({ length: kept + 1 }, (_, i) => i),
          pass: { rows: 2 },
        } as unknown as Outcome);
      }
      return drafter.rate?.() ?? 0;
    };
    expect(await rate(1)).toBeCloseTo(2 / 1.35, 2);
    expect(await rate(0)).toBeCloseTo(1 / 1.35, 2);
    const before = drafter.rate?.();
    drafter.observe({ path: [0], pass: { rows: 1 } } as unknown as Outcome); // a plain round says nothing of it
    expect(drafter.rate?.()).toBe(before);
  });
});
