// Drafts of two sources: what a look-up finds, and what a drafter with weights writes. Each round takes the source that
// is expected to commit more tokens for its cost, by the acceptance measured so far. Where the two are about as good,
// one tree holds both drafts, as branches from the anchor. Where the drafter loses time and nothing is found, the round
// is plain.
import { MOST_ROWS } from '../../base/pass-rows.ts';
import type { Token, Tree } from '../../model/interface.ts';
import type { RoundKind } from '../core/round-cost.ts';
import type { Drafter, Proposal } from './drafter.ts';
import { payingDraft } from './paying-draft.ts';
import type { SuffixSource } from './suffix-drafter.ts';

/** Ratio of rates within which two sources count as equally good. */
const ALIKE = 1.25;
/** Drafts of the drafter that are assumed to be kept before any round has shown it. */
const ASSUMED = 2;
/** How much an older round counts, for each that came after it. */
const DECAY = 0.85;
/**
 * Rounds in a row without the drafter, before it is tried again: what it writes may suit the text by now. Doubled by
 * each try that loses time.
 */
const PAUSE = { least: 16, most: 256 } as const;
const chained = ({ tree }: Proposal): Tree | null => ('tokens' in tree ? tree : null);

/** Both trees under one anchor; the first one's branches come first. */
const joined = (first: Tree, second: Tree): Tree => {
  const shift = first.tokens.length - 1;
  const tokens: Token[] = [...first.tokens, ...second.tokens.slice(1)];
  const parents = [...first.parents, ...second.parents.slice(1).map((parent) => (parent === 0 ? 0 : parent + shift))];
  return { tokens, parents };
};

export interface CombinedOptions {
  readonly lookup: SuffixSource;
  /** Greedy, so that the choice of a source never changes what is sampled. Null: there is none. */
  readonly drafter: Drafter | null;
  /** Of a round, in plain rounds. */
  readonly cost: (kind: RoundKind) => number;
}

export const combinedDrafter = ({ lookup, drafter, cost }: CombinedOptions): Drafter => {
  let kept = { sum: ASSUMED, rounds: 1 };
  let unused = 0;
  let pause: number = PAUSE.least;
  /** The last proposal was the drafter's, although it lost time before. */
  let trying = false;
  let proposed: 'lookup' | 'drafter' | 'both' | null = null;
  /** Rows of the look-up in a joined tree. */
  let boundary = 0;
  /** Rows and passes of the drafter's last proposal, which say what its next one will cost. */
  let usual = { nodes: 8, passes: 1 };
  const drafterRate = (): number => (1 + kept.sum / kept.rounds) / cost(usual);

  const byLookup = (found: Proposal | null): Proposal | null => {
    unused++;
    if (found) proposed = 'lookup';
    return found;
  };

  const remember = (count: number): void => {
    const paid = 1 + count >= cost(usual);
    // After a pause, one round that pays says more about the text than those before it.
    kept =
      trying && paid ? { sum: count, rounds: 1 } : { sum: DECAY * kept.sum + count, rounds: DECAY * kept.rounds + 1 };
    if (drafterRate() >= 1) pause = PAUSE.least;
    else if (trying) pause = Math.min(2 * pause, PAUSE.most);
  };

  return {
    by: drafter?.by ?? 'lookup',
    // Look-ups alone can be asked about a text that is not committed yet.
    ...(drafter ? {} : { onHost: true }),
    async propose(sequence, most) {
      proposed = null;
      const found = lookup.propose(sequence, most);
      const looked = found && payingDraft(found, cost);
      if (!drafter) return byLookup(found);
      const due = unused >= pause;
      const ratio = looked?.draft ? looked.rate / drafterRate() : 0;
      const loses = drafterRate() < 1;
      if (!due && (ratio > ALIKE || loses)) return byLookup(found);
      const proposal = await drafter.propose(sequence, most);
      if (!proposal) return byLookup(found);
      unused = 0;
      trying = loses;
      usual = { nodes: proposal.nodes, passes: proposal.passes };
      proposed = 'drafter';
      const own = chained(proposal);
      const tree = looked?.draft && (ratio > 1 / ALIKE || due) ? chained(looked.draft) : null;
      if (!own || !tree || own.tokens.length + tree.tokens.length - 1 > MOST_ROWS) return proposal;
      proposed = 'both';
      boundary = tree.tokens.length;
      const both = joined(tree, own);
      return { ...proposal, tree: both, nodes: both.tokens.length };
    },
    observe(outcome) {
      const { path } = outcome;
      const count = path.length - 1;
      // In a joined tree the walk follows one branch; what the other one would have kept was not tested.
      const ofLookup = proposed === 'lookup' || (proposed === 'both' && (path[1] ?? boundary) < boundary);
      lookup.observe(outcome);
      if (proposed === 'drafter' || (proposed === 'both' && !ofLookup)) remember(count);
      drafter?.observe(ofLookup ? { ...outcome, byOther: true } : outcome);
      proposed = null;
    },
  };
};
