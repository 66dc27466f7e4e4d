// Drafts by copying: finds where the last tokens occurred before, and proposes what followed them there. A copy may
// reach into itself, as in LZ77, so a repetition is drafted to full length.
import { Acceptance } from '../core/acceptance.ts';
import { chainOf } from '../core/chain.ts';
import type { Drafter } from './speculate.ts';

/** Most drafts where their number follows the acceptance: on most devices a pass of more than eight rows costs more. */
const MOST_ADAPTIVE = 7;
/** What a draft costs, in plain tokens: a row of the target's pass. */
const COST = 0.25;
/** Small, because text changes between copying and not copying within a few rounds. */
const DECAY = 0.6;
/** Once drafts after a match of one token no longer pay, one in so many of them is tried. */
const TRY_EVERY = 8;
/** The assumed acceptance after a match of one, two, three and more tokens: long matches are right more often. */
const ASSUMED = [0.4, 0.6, 0.8] as const;

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

export const lookupDrafter = (ngram: number, gamma: number): Drafter => {
  const acceptance = Array.from({ length: ngram }, (_, i) => {
    const begin = ASSUMED[Math.min(i, ASSUMED.length - 1)] as number;
    return new Acceptance({ cost: COST, most: MOST_ADAPTIVE, least: i === 0 ? 0 : 1, begin, decay: DECAY });
  });
  /** Matches for which drafting does not pay by the measured acceptance. */
  let unpaid = 0;
  let proposed: { readonly match: number; readonly drafts: number } | null = null;
  return {
    by: 'lookup',
    onHost: true,
    propose({ tokens }, most) {
      const match = lookUp(tokens, ngram);
      if (!match) return null;
      const { from, length } = match;
      const wanted = gamma || (acceptance[length - 1]?.drafts ?? 0);
      if (wanted === 0 && ++unpaid % TRY_EVERY > 0) return null;
      const drafts = Math.min(Math.max(1, wanted), most);
      const copied: number[] = [];
      for (let i = 0; i < drafts; i++)
        copied.push((from + i < tokens.length ? tokens[from + i] : copied[from + i - tokens.length]) as number);
      proposed = { match: length, drafts };
      return {
        tree: chainOf([tokens[tokens.length - 1] as number, ...copied]),
        distributions: null,
        nodes: drafts + 1,
        passes: 0,
      };
    },
    observe({ path }) {
      if (proposed) acceptance[proposed.match - 1]?.add(proposed.drafts, path.length - 1);
      proposed = null;
    },
  };
};
