// The interface of drafters: they propose, and are told what was kept. speculate.ts turns one into rounds.
import type { Choice, Draft, Forward } from '../../model/interface.ts';
import type { Role } from '../../trace/index.ts';
import type { Sequence } from '../core/system.ts';

/** A draft, and what it cost. */
export interface Proposal extends Draft {
  /** The model that drafted it, where that is not the drafter's own. */
  readonly by?: Role;
  /**
   * The chance of every node to be kept, in descending order, where the drafter leaves it open how many of them are
   * verified. The anchor's is 1.
   */
  readonly chances?: readonly number[];
  /** The chances are products of the drafter's own probabilities, which the device does not know. */
  readonly ownChances?: true;
  /** Rows of the tree, including the anchor's. */
  readonly nodes: number;
  /** Forward passes of the drafter. */
  readonly passes: number;
  /** Passes before them, in which it read what it had missed while it was paused. No other round has them to pay. */
  readonly missed?: number;
}

export interface Drafter {
  /** The model that drafts, for the trace. */
  readonly by: Role;
  /** All that draft, where there are several: each is paused on its own while it loses time. */
  readonly sources?: readonly Role[];
  /** The host knows its drafts, so it may be asked about a text that ends in forced tokens, which are in the same pass. */
  readonly onHost?: true;
  /** Tokens that its next draft is expected to commit in the time of a plain round, where it can tell. */
  rate?(): number;
  /**
   * A tree whose root is the last committed token, at most `most` levels deep: the budget allows no more. Null: there
   * is nothing to propose, and the round is plain. `may`: the sources that are not paused (default: all).
   */
  propose(sequence: Sequence, most: number, may?: readonly Role[]): Proposal | null | Promise<Proposal | null>;
  /** Called after every round, plain ones too: these rows of the pass are committed, each followed by its choice. */
  observe(outcome: Outcome): void;
}

export interface Outcome {
  readonly pass: Forward;
  readonly path: readonly number[];
  readonly choices: readonly Choice[];
  /** The anchor's position in the sequence, which is that of `path[0]`. */
  readonly base: number;
}
