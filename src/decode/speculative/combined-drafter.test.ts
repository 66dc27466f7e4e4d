// Which source drafts: by what each is expected to commit for its cost.
import { describe, expect, it } from 'vitest';
import { toyModel } from '../../testing/toys/toy-model.ts';
import type { Role } from '../../trace/index.ts';
import { chainOf } from '../core/chain.ts';
import type { RoundKind } from '../core/round-cost.ts';
import type { Sequence } from '../core/system.ts';
import { combinedDrafter } from './combined-drafter.ts';
import type { Drafter, Outcome } from './drafter.ts';
import { SuffixSource } from './suffix-drafter.ts';

/** A pass costs the same whatever its rows are, and a pass of the drafter a fifth of it. */
const cost = ({ passes }: RoundKind): number => 1 + 0.2 * passes;
const DEPTH = 3;

/**
 * Which source drafted in each of `count` rounds. The drafter's tokens are right in the rounds that `right` names. All
 * text is new, but for `repeated`, whose first tokens come twice. `may`: the sources that are not paused.
 */
const rounds = async (
  count: number,
  right: (round: number) => boolean,
  repeated: readonly number[] = [],
  may: (round: number) => readonly Role[] = () => ['lookup', 'eagle3'],
) => {
  const models = { target: toyModel({ vocabulary: 4, sharpness: 1 }) };
  const lookup = new SuffixSource(
    { models, fresh: true, document: [], tokenText: null, retokenise: null },
    { match: 8, depth: 15, nodes: 15 },
  );
  const own: Drafter = {
    by: 'eagle3',
    propose: ({ tokens }) => ({
      tree: chainOf([tokens.at(-1) as number, -1, -2, -3]),
      distributions: null,
      nodes: DEPTH + 1,
      passes: DEPTH,
    }),
    observe: () => {},
  };
  const drafter = combinedDrafter({ lookup, drafter: own, cost });
  const tokens = [...repeated, ...repeated.slice(0, 4)];
  if (tokens.length === 0) tokens.push(100);
  const used: ('lookup' | 'drafter' | 'plain')[] = [];
  for (let round = 0; round < count; round++) {
    const proposal = await drafter.propose({ tokens } as unknown as Sequence, 16, may(round));
    used.push(proposal ? (proposal.by === 'lookup' ? 'lookup' : 'drafter') : 'plain');
    const kept = used.at(-1) === 'drafter' && right(round) ? DEPTH : 0;
    const fresh = Array.from({ length: kept + 1 }, (_, i) => 1000 + tokens.length + i);
    const choices = fresh.map((token) => ({ token, logprob: 0 }));
    const path = choices.map((_, i) => i);
    const pass = { rows: proposal?.nodes ?? 1 };
    drafter.observe({ pass, path, choices, base: tokens.length - 1 } as unknown as Outcome);
    tokens.push(...fresh);
  }
  return used;
};

describe('combined', () => {
  it('asks the drafter where it pays and nothing was found', async () => {
    expect(new Set(await rounds(50, () => true))).toEqual(new Set(['drafter']));
  });

  it('looks up where more is expected of that, and the drafter goes on where the text is new', async () => {
    const [first, ...others] = await rounds(20, () => true, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    expect(first).toBe('lookup');
    expect(new Set(others)).toEqual(new Set(['drafter']));
  });

  it('leaves the round to the other source, or plain, while one is paused', async () => {
    const repeated = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
    const used = await rounds(
      20,
      () => true,
      repeated,
      (round) => (round < 10 ? ['lookup'] : ['eagle3']),
    );
    expect(used[0]).toBe('lookup');
    expect(used.slice(1, 10)).toContain('plain');
    expect(used.slice(1, 10)).not.toContain('drafter');
    expect(new Set(used.slice(10))).toEqual(new Set(['drafter']));
    expect(
      (
        await rounds(
          1,
          () => true,
          repeated,
          () => ['eagle3'],
        )
      )[0],
    ).toBe('drafter');
  });
});
