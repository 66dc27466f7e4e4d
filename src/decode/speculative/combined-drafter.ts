// Drafts of two sources: what a look-up finds, and what a drafter with weights writes. Each round takes the source that
// is expected to commit more tokens for its cost, by the acceptance measured so far. Where the drafter loses time and
// nothing is found, the round is plain. Both drafts in one tree cost more rows than they save rounds, because the
// two often begin with the same token (docs/log/speculation.md).
import type { RoundKind } from '../core/round-cost.ts';
import type { Drafter, Proposal } from './drafter.ts';
import { payingDraft } from './paying-draft.ts';
import type { SuffixSource } from './suffix-drafter.ts';

/** Drafts of the drafter that are assumed to be kept before any round has shown it. */
const ASSUMED = 2;
/** How much an older round counts, for each that came after it. */
const DECAY = 0.85;
/**
 * Rounds in a row without the drafter, before it is tried again: what it writes may suit the text by now. Doubled by
 * each try that loses time.
 */
const PAUSE = { least: 16, most: 256 } as const;

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
  /** The last proposal was the drafter's. */
  let drafted = false;
  /** Rows that were verified of the drafter's last proposal, and its passes: they say what the next one will cost. */
  let usual = { nodes: 8, passes: 1 };
  const drafterRate = (): number => drafter?.rate?.() ?? (1 + kept.sum / kept.rounds) / cost(usual);

  const byLookup = (found: Proposal | null): Proposal | null => {
    unused++;
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
      drafted = false;
      const found = lookup.propose(sequence, most);
      if (!drafter) return byLookup(found);
      const rate = drafterRate();
      const loses = rate < 1;
      const looked = found && payingDraft(found, cost);
      if (unused < pause && (loses || (looked?.draft && looked.rate > rate))) return byLookup(found);
      const proposal = await drafter.propose(sequence, most);
      if (!proposal) return byLookup(found);
      unused = 0;
      trying = loses;
      usual = { nodes: proposal.nodes, passes: proposal.passes };
      drafted = true;
      return proposal;
    },
    observe(outcome) {
      lookup.observe(outcome);
      if (drafted) {
        usual = { ...usual, nodes: outcome.pass.rows };
        remember(outcome.path.length - 1);
      }
      drafted = false;
      drafter?.observe(outcome);
    },
  };
};
