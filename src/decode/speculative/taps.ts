// Drafters that read the target's hidden states: their context has a row for every row that the target has committed,
// handed over pass by pass, in the prompt and in every round. Beyond its own limit a drafter falls behind for good, and
// proposes nothing any more; the answer goes on without it.
import type { Cursor, ExtendOptions, Forward } from '../../model/interface.ts';
import { type Prefilled, type PrefillOptions, prefill } from '../core/prefill.ts';
import type { Commit, RunContext } from '../core/system.ts';

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

/** A text but its last token, which is the first draft's to read: nothing is drawn, and nobody waits for the device. */
const catchUp = async (
  { sequence, signal, emit }: Pick<RunContext, 'sequence' | 'signal' | 'emit'>,
  target: Cursor,
  follower: Follower,
  hand: Hand,
): Promise<void> => {
  const start = performance.now();
  const reused = Math.min(target.length, follower.length);
  target.rewind(reused);
  follower.rewind(reused);
  const rows = sequence.tokens.slice(reused, -1);
  if (rows.length > 0) await target.extend(rows, { signal, onPass: handing(hand, reused) });
  emit({ type: 'prefill', by: 'target', rows: rows.length, reused, ms: performance.now() - start });
};

/** Hands on whole passes, one after another. */
const handing = (hand: Hand, begin: number): NonNullable<ExtendOptions['onPass']> => {
  let base = begin;
  return (pass) => {
    hand(
      pass,
      Array.from({ length: pass.rows }, (_, i) => i),
      base,
    );
    base += pass.rows;
  };
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
  return prefill(run, target, { ...options, onPass: handing(hand, known) });
};

/** For drafters of blocks, which read no token behind the text: nested in a step router they draft at once. */
export const prefillBlocks = async (
  run: RunContext,
  target: Cursor,
  follower: Follower,
  hand: Hand,
  options: Pick<PrefillOptions, 'logits'> = {},
): Promise<{ readonly first: Commit | null; readonly logits: Float32Array | null }> => {
  if (!run.refused || options.logits) return prefillTapped(run, target, follower, hand, options);
  await catchUp(run, target, follower, hand);
  return { first: null, logits: null };
};
