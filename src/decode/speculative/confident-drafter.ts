// Drafts of an EAGLE-3 or MTP layer for as long as it is sure of them. Each is read back before the next is written, so that a
// round drafts and verifies as much as its own text is worth. On a software adapter a readback costs next to nothing and
// a row of the target's pass much. On a GPU it is the other way round: there tree-drafter.ts goes by the rounds before.
import type { Choice, FeatureCursor } from '../../model/interface.ts';
import type { RoundKind } from '../core/round-cost.ts';
import type { Drafter, Proposal } from './drafter.ts';
import { likeliestFirst } from './match-acceptance.ts';
import { MOST_PAYING } from './tree-drafter.ts';

/** The next token is drafted if all before it are kept with this probability. From 0.4 to 0.6 the speed is the same. */
const SURE = 0.5;
/** How much an older round counts, for each that came after it. */
const DECAY = 0.9;
/** What is assumed before the first round, which counts as much as so many rounds. */
const ASSUMED = { rate: 1.2, rounds: 4 } as const;

export interface ConfidentOptions extends Pick<Drafter, 'by'> {
  /** Tokens of a place that may be verified: 1 makes a chain, more a tree. */
  readonly width: number;
  /** The most drafts that are verified. */
  readonly nodes: number;
  /** Of a round, in plain rounds. */
  readonly cost: (kind: RoundKind) => number;
}

/** What follows the anchor: the best token of a place continues the chain, the others end there. */
const treeOf = (anchor: number, places: readonly (readonly Choice[])[]) => {
  const [tokens, parents, chances] = [[anchor], [-1], [1]];
  let last = 0;
  for (const place of places) {
    const first = tokens.length;
    for (const { token, logprob } of place) {
      tokens.push(token);
      parents.push(last);
      chances.push((chances[last] as number) * Math.exp(logprob));
    }
    last = first;
  }
  return { tokens, parents, chances };
};

export const confidentDrafter = (
  cursor: FeatureCursor,
  { by, width, nodes, cost }: ConfidentOptions,
  observe: Drafter['observe'],
): Drafter => {
  let rounds = { tokens: ASSUMED.rate * ASSUMED.rounds, cost: ASSUMED.rounds as number };
  let passes = 0;
  return {
    by,
    rate: () => rounds.tokens / rounds.cost,
    async propose({ tokens }, most): Promise<Proposal | null> {
      const depth = Math.min(nodes, MOST_PAYING, most, cursor.capacity - cursor.length);
      if (depth < 1 || cursor.length < tokens.length - 1) return null;
      let kept = 1;
      const places = await cursor.chainWhile(depth, width, ([best]) => {
        kept *= Math.exp((best as Choice).logprob);
        return kept > SURE;
      });
      passes = places.length;
      const tree = treeOf(tokens[tokens.length - 1] as number, places);
      return { ...likeliestFirst(tree, tree.chances, nodes + 1), by, passes, ownChances: true };
    },
    observe(outcome) {
      if (passes > 0) {
        const spent = cost({ nodes: outcome.pass.rows, passes });
        rounds = { tokens: DECAY * rounds.tokens + outcome.path.length, cost: DECAY * rounds.cost + spent };
      }
      passes = 0;
      observe(outcome);
    },
  };
};
