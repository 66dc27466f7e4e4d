// How every token-level system begins: the model reads the prompt, and the first token is drawn from the last row. Also
// how a token is drawn from any row, with the scores that the caller asked for.
import type { Choice, Cursor, ExtendOptions, Forward } from '../../model/interface.ts';
import { extendCounted } from './extend-counted.ts';
import type { Commit, RunContext, Score, Sequence } from './system.ts';

/** The scores of tokens that were chosen at these rows. One readback where alternatives are wanted, else none. */
export const scoresOf = async (
  pass: Pick<Forward, 'top'>,
  rows: readonly number[],
  choices: readonly Choice[],
  { alternatives }: Pick<Sequence, 'alternatives'>,
): Promise<readonly Score[]> => {
  const tops = alternatives ? await pass.top(rows, alternatives) : [];
  return choices.map(({ logprob, ends }, i) => ({ logprob, top: (!ends && tops[i]) || [] }));
};

/** Draws the child of `row`. One readback, and one more where alternatives are wanted. */
export const drawToken = async (
  pass: Pick<Forward, 'draw' | 'top'>,
  row: number,
  sequence: Pick<Sequence, 'sampling' | 'alternatives'>,
): Promise<Commit> => {
  const [choice] = await pass.draw(row, sequence.sampling).read();
  if (!choice) throw new Error('a draw of one row came back empty');
  return { tokens: [choice.token], source: ['sampled'], scores: await scoresOf(pass, [row], [choice], sequence) };
};

/** The prompt has been read; `last` is the pass of its last row. */
export interface Prefilled {
  readonly first: Commit;
  readonly last: Forward;
  readonly logits: Float32Array | null;
}

export interface PrefillOptions extends Pick<ExtendOptions, 'onPass'> {
  /** Reads the last row's logits too, in the same wait as its token. */
  readonly logits?: boolean;
}

/** Reads what the target's cursor lacks of the prompt, and draws the first token. */
export const prefill = async (
  { sequence, signal, emit }: Pick<RunContext, 'sequence' | 'signal' | 'emit'>,
  cursor: Cursor,
  { logits: wanted = false, ...options }: PrefillOptions = {},
): Promise<Prefilled> => {
  const start = performance.now();
  const reused = cursor.length;
  const prompt = sequence.tokens.slice(reused);
  const { last, passes } = await extendCounted(cursor, prompt, { ...options, signal });
  const [logits, first] = await Promise.all([wanted ? last.logits.read() : null, drawToken(last, 0, sequence)]);
  emit({ type: 'prefill', by: 'target', rows: prompt.length, reused, passes, ms: performance.now() - start });
  return { first, last, logits };
};

/** Reads the prompt except its last token, which the first draft reads. */
export const readPrompt = async (
  { sequence, emit, signal }: Pick<RunContext, 'sequence' | 'emit' | 'signal'>,
  cursor: Cursor,
  by: 'draft' | 'target' = 'draft',
): Promise<void> => {
  const start = performance.now();
  const reused = cursor.length;
  const rows = sequence.tokens.slice(reused, Math.min(sequence.tokens.length - 1, cursor.capacity));
  const { passes } = rows.length > 0 ? await extendCounted(cursor, rows, { signal }) : { passes: 0 };
  emit({ type: 'prefill', by, rows: rows.length, reused, passes, ms: performance.now() - start });
};
