// How many rows of a draft are verified: as many as are expected to commit most tokens for their time, by each node's
// chance of being kept and by what a round of so many rows costs. Rows that cannot be refused, the last token and forced
// text, are always there. Only how much is drafted is decided here, so what is written does not change.
import type { RoundKind } from '../core/round-cost.ts';
import type { Proposal } from './drafter.ts';

export interface Paying {
  /** Null: no draft pays. */
  readonly draft: Proposal | null;
  /** Expected tokens in the time of a plain round. */
  readonly rate: number;
}

/**
 * `cost` in plain rounds; `least`: drafts that are verified whatever they cost. The nodes are ordered by their chances,
 * which a proposal of fixed size does not have.
 */
export const payingDraft = (
  proposal: Proposal & { readonly chances: readonly number[] },
  cost: (kind: RoundKind) => number,
  least = 0,
): Paying => {
  const { chances, passes, tree } = proposal;
  const certain = chances.lastIndexOf(1) + 1;
  let [nodes, rate, expected] = [certain, certain / cost({ nodes: certain, passes }), certain];
  for (let rows = certain + 1; rows <= chances.length; rows++) {
    expected += chances[rows - 1] as number;
    const next = expected / cost({ nodes: rows, passes });
    if (next > rate || rows <= certain + least) [nodes, rate] = [rows, next];
  }
  // A draft that was paid for and is not verified makes a round that costs more than a plain one.
  if ((nodes === certain && passes === 0) || !('tokens' in tree)) return { draft: null, rate };
  const cut = { tokens: tree.tokens.slice(0, nodes), parents: tree.parents.slice(0, nodes) };
  return { draft: { ...proposal, tree: cut, chances: chances.slice(0, nodes), nodes }, rate };
};
