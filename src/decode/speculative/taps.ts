// Drafters that read the target's hidden states (taps). Their context has a row for every row that the target has
// committed, appended pass by pass, in the prompt and in every round. A drafter whose context is full is appended to no
// more and proposes nothing; the answer goes on without it.
import type { Cursor, ExtendOptions, Forward } from '../../model/interface.ts';
import { extendCounted } from '../core/extend-counted.ts';
import { type Prefilled, type PrefillOptions, prefill } from '../core/prefill.ts';
import type { Commit, RunContext } from '../core/system.ts';

/** What the cursors of such drafters have in common. */
export interface DrafterContext {
  readonly length: number;
  readonly capacity: number;
  rewind(length: number): void;
}

type Taps = Pick<Forward, 'taps'>;
/** Appends rows of a pass to the drafter's context; the first of them is row `base` of the sequence. */
export type AppendRows = (pass: Taps, rows: readonly number[], base: number) => void;

/** Appends only rows that continue the drafter's context and fit into it. */
export const appendInOrder =
  (context: DrafterContext, append: AppendRows): AppendRows =>
  (pass, rows, base) => {
    const fitting = rows.slice(0, context.capacity - base);
    if (context.length === base && fitting.length > 0) append(pass, fitting, base);
  };

/** The same for drafters of blocks, whose rows need the taps alone. */
export const appendTo = (context: DrafterContext & { append(pass: Taps, rows: readonly number[]): void }): AppendRows =>
  appendInOrder(context, (pass, rows) => context.append(pass, rows));

/**
 * Goes back to the last row that target and drafter both have, and returns how many there are. A drafter whose context
 * is full needs none of the rows after it.
 */
const rewindBoth = (target: Cursor, context: DrafterContext): number => {
  const isFull = context.length === context.capacity;
  const known = isFull ? target.length : Math.min(target.length, context.length);
  target.rewind(known);
  context.rewind(Math.min(known, context.length));
  return known;
};

/** Reads a text except its last token, which the first draft reads. Nothing is drawn and nothing is read back. */
const readWithoutDraw = async (
  { sequence, signal, emit }: Pick<RunContext, 'sequence' | 'signal' | 'emit'>,
  target: Cursor,
  context: DrafterContext,
  append: AppendRows,
): Promise<void> => {
  const start = performance.now();
  const reused = rewindBoth(target, context);
  const rows = sequence.tokens.slice(reused, -1);
  const options = { signal, onPass: appendPasses(append, reused) };
  const { passes } = rows.length > 0 ? await extendCounted(target, rows, options) : { passes: 0 };
  emit({ type: 'prefill', by: 'target', rows: rows.length, reused, passes, ms: performance.now() - start });
};

/** Appends whole passes, one after another. */
const appendPasses = (append: AppendRows, begin: number): NonNullable<ExtendOptions['onPass']> => {
  let base = begin;
  return (pass) => {
    append(
      pass,
      Array.from({ length: pass.rows }, (_, i) => i),
      base,
    );
    base += pass.rows;
  };
};

/** Reads the prompt with target and drafter, from the first row that either lacks. */
export const prefillTapped = async (
  run: RunContext,
  target: Cursor,
  context: DrafterContext,
  append: AppendRows,
  options: Pick<PrefillOptions, 'logits'> = {},
): Promise<Prefilled> => {
  const known = rewindBoth(target, context);
  return prefill(run, target, { ...options, onPass: appendPasses(append, known) });
};

/**
 * The same for drafters of blocks. They need no token after the text, so in a step router, where a refused step is
 * there to propose, the first round drafts at once and no first token is drawn.
 */
export const prefillBlocks = async (
  run: RunContext,
  target: Cursor,
  context: DrafterContext,
  append: AppendRows,
  options: Pick<PrefillOptions, 'logits'> = {},
): Promise<{ readonly first: Commit | null; readonly logits: Float32Array | null }> => {
  if (!run.refused || options.logits) return prefillTapped(run, target, context, append, options);
  await readWithoutDraw(run, target, context, append);
  return { first: null, logits: null };
};
