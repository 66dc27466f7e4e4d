// Drafters that read the target's hidden states: their context has a row for every row that the target has committed,
// handed over pass by pass, in the prompt and in every round. Beyond its own limit a drafter falls behind for good, and
// proposes nothing any more; the answer goes on without it.
import type { Cursor, Forward } from '../model/model.ts';
import { type Prefilled, type PrefillOptions, prefill } from './prefill.ts';
import type { RunContext } from './system.ts';

/** What is common to the cursors of such drafters. */
interface Follower {
  readonly length: number;
  readonly capacity: number;
  rewind(length: number): void;
}

type Taps = Pick<Forward, 'taps'>;
/** Hands on rows of a pass; the first of them is row `base` of the sequence. */
export type Hand = (pass: Taps, rows: readonly number[], base: number) => void;

/** Hands on what continues the follower's rows and fits. */
export const following =
  (follower: Follower, hand: Hand): Hand =>
  (pass, rows, base) => {
    const fitting = rows.slice(0, follower.capacity - base);
    if (follower.length === base && fitting.length > 0) hand(pass, fitting, base);
  };

/** The prompt, for the target and for a drafter that has none of it that the target lacks. */
export const prefillTapped = async (
  run: RunContext,
  target: Cursor,
  follower: Follower,
  hand: Hand,
  options: Pick<PrefillOptions, 'logits'> = {},
): Promise<Prefilled> => {
  const known = Math.min(target.length, follower.length);
  target.rewind(known);
  follower.rewind(known);
  let base = known;
  return prefill(run, target, {
    ...options,
    onPass(pass) {
      hand(
        pass,
        Array.from({ length: pass.rows }, (_, i) => i),
        base,
      );
      base += pass.rows;
    },
  });
};
