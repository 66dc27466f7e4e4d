// Drafts by copying: finds where the last tokens occurred before, and proposes what followed them there. A copy may
// reach into itself, as in LZ77, so a repetition is drafted to full length.
import { chainOf } from '../core/chain.ts';
import type { Drafter } from './drafter.ts';
import { MatchAcceptance } from './match-acceptance.ts';

/** With the anchor they fill the rows of one pass. */
export const MOST_COPIED = 15;

export interface Match {
  /** Where its continuation begins. */
  readonly from: number;
  readonly length: number;
}

/**
 * The longest earlier occurrence of the last tokens, at most `ngram` of them, and the latest such; null: there is none.
 */
export const lookUp = (tokens: readonly number[], ngram: number): Match | null => {
  const end = tokens.length;
  let [from, longest] = [0, 0];
  for (let at = end - 1; at > 0 && longest < ngram; at--) {
    let length = 0;
    while (length < ngram && length < at && tokens[at - 1 - length] === tokens[end - 1 - length]) length++;
    if (length > longest) [from, longest] = [at, length];
  }
  return longest > 0 ? { from, length: longest } : null;
};

/** Drafts `gamma` tokens; with 0, as many as pay. */
export const lookupDrafter = (ngram: number, gamma: number): Drafter => {
  const acceptance = new MatchAcceptance();
  return {
    by: 'lookup',
    onHost: true,
    propose({ tokens }, most) {
      const match = lookUp(tokens, ngram);
      if (!match) return null;
      const { from, length } = match;
      const period = tokens.length - from;
      const drafts = Math.min(gamma || MOST_COPIED, most);
      const copied = Array.from({ length: drafts }, (_, i) => tokens[from + (i % period)] as number);
      const chain = [tokens[tokens.length - 1] as number, ...copied];
      const tree = { tokens: chain, parents: chainOf(chain).parents, shares: chain.map(() => 1) };
      const { chances, ...fixed } = acceptance.propose(tree, length);
      return gamma > 0 ? fixed : { ...fixed, chances };
    },
    observe: ({ choices }) => acceptance.observe(choices.map(({ token }) => token)),
  };
};
