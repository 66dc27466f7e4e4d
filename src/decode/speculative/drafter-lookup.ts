// Drafts that are copied: where the last tokens occurred before, what followed them then. Copies run on into themselves,
// as in LZ77, so a repetition is drafted to full length.
import { Acceptance } from '../ensemble/acceptance.ts';
import { chainOf, type Drafter } from './speculate.ts';

/** Of drafts that follow the acceptance: eight rows are the knee of a pass's cost on most devices. */
const MOST_BY_ITSELF = 7;
/** What a draft costs, in plain tokens: a row of the target's pass. */
const COST = 0.25;
/** A text is being copied or it is not: what was seen a few rounds ago says little. */
const DECAY = 0.6;
/** Of matches of a single token, once they have stopped paying, every so many-th is tried. */
const PROBE = 8;
/** Long matches are right more often than short ones. */
const BEGIN = [0.4, 0.6, 0.8] as const;

export interface Match {
  /** Where its continuation begins. */
  readonly from: number;
  readonly length: number;
}

/** The latest of the longest earlier occurrences of the last `ngram` tokens or fewer; null: not even the last one. */
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
    const begin = BEGIN[Math.min(i, BEGIN.length - 1)] as number;
    return new Acceptance({ cost: COST, most: MOST_BY_ITSELF, least: i === 0 ? 0 : 1, begin, decay: DECAY });
  });
  /** Matches of a single token that had stopped paying. */
  let passed = 0;
  let proposed: { readonly match: number; readonly drafts: number } | null = null;
  return {
    by: 'lookup',
    propose({ tokens }, most) {
      const match = lookUp(tokens, ngram);
      if (!match) return null;
      const { from, length } = match;
      const wanted = gamma || (acceptance[length - 1]?.drafts ?? 0);
      if (wanted === 0 && ++passed % PROBE > 0) return null;
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
