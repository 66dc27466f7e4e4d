// Drafts of two sources: what a look-up finds, and what a drafter with weights writes. Each round takes the source that
// is expected to commit more tokens for its cost, by the acceptance measured so far; a source that loses time is paused
// (fallback.ts). Both drafts in one tree cost more rows than they save rounds, because the two often begin with the same
// token (docs/log/speculation.md).
import type { RoundKind } from '../core/round-cost.ts';
import type { Drafter } from './drafter.ts';
import { payingDraft } from './paying-draft.ts';
import { type SuffixSource, suffixDrafter } from './suffix-drafter.ts';

/** Drafts of the drafter that are assumed to be kept before any round has shown it. */
const ASSUMED = 2;
/** How much an older round counts, for each that came after it. */
const DECAY = 0.85;

export interface CombinedOptions {
  readonly lookup: SuffixSource;
  /** Greedy, so that the choice of a source never changes what is sampled. Null: there is none. */
  readonly drafter: Drafter | null;
  /** Of a round, in plain rounds. */
  readonly cost: (kind: RoundKind) => number;
}

export const combinedDrafter = ({ lookup, drafter, cost }: CombinedOptions): Drafter => {
  if (!drafter) return suffixDrafter(lookup);
  let kept = { sum: ASSUMED, rounds: 1 };
  /** The last proposal was the drafter's. */
  let drafted = false;
  /** Rows that were verified of the drafter's last proposal, and its passes: they say what the next one will cost. */
  let usual = { nodes: 8, passes: 1 };
  const drafterRate = (): number => drafter.rate?.() ?? (1 + kept.sum / kept.rounds) / cost(usual);
  const { by } = drafter;
  const sources = ['lookup', by] as const;
  return {
    by,
    sources,
    async propose(sequence, most, may = sources) {
      drafted = false;
      const found = may.includes('lookup') ? lookup.propose(sequence, most) : null;
      if (!may.includes(by)) return found;
      const looked = found && payingDraft(found, cost);
      if (looked?.draft && looked.rate > drafterRate()) return found;
      const proposal = await drafter.propose(sequence, most, may);
      if (!proposal) return found;
      usual = { nodes: proposal.nodes, passes: proposal.passes };
      drafted = true;
      return { by, ...proposal };
    },
    observe(outcome) {
      lookup.observe(outcome);
      if (drafted) {
        usual = { ...usual, nodes: outcome.pass.rows };
        kept = { sum: DECAY * kept.sum + outcome.path.length - 1, rounds: DECAY * kept.rounds + 1 };
      }
      drafted = false;
      drafter.observe(outcome);
    },
  };
};
