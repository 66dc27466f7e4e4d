// One round of plain decoding: a pass of the target writes one token. Under a constraint the text that must come goes into
// the same pass, so that it costs none of its own.
import type { Choice, Cursor, Forward } from '../../model/interface.ts';
import type { Source } from '../../trace/index.ts';
import { chainOf } from './chain.ts';
import { certain } from './constrained-text.ts';
import { scoresOf } from './prefill.ts';
import type { Commit, RoundContext, Sequence } from './system.ts';

interface Plain {
  readonly pass: Forward;
  readonly path: readonly number[];
  readonly choices: readonly Choice[];
}

/** Most forced tokens of a pass: with the last token they fill its rows. */
const MOST_FORCED = 15;

/** The text that the run's constraint leaves no choice about, as far as one pass and the budget reach. */
export const forcedText = ({ constraint, tokens, promptLength, budget }: Sequence): readonly number[] =>
  constraint?.forced(tokens.slice(promptLength), Math.min(MOST_FORCED, budget - 1)) ?? [];

/** One token of plain decoding, after forced text if there is any. The pass is not accepted yet. */
export const plainRound = async (
  target: Cursor,
  { tokens, sampling }: Sequence,
  forced: readonly number[] = [],
): Promise<Plain> => {
  const pass = target.forward(chainOf([...tokens.slice(-1), ...forced]));
  const [choice] = await pass.draw(forced.length, sampling).read();
  if (!choice) throw new Error('a draw of one row came back empty');
  return { pass, path: [0, ...forced.map((_, i) => i + 1)], choices: [...forced.map(certain), choice] };
};

/** A plain round, told and kept in the cache. */
export const keepPlainRound = async (
  { pass, path, choices }: Plain,
  { sequence, round, emit }: Pick<RoundContext, 'sequence' | 'round' | 'emit'>,
  start: number,
): Promise<Commit> => {
  pass.accept(path);
  const [forced, [next]] = [choices.slice(0, -1).map(({ token }) => token), choices.slice(-1)];
  const { tokens } = sequence;
  if (forced.length > 0) {
    const chain = [tokens.at(-1) as number, ...forced];
    const { parents } = chainOf(chain);
    emit({ type: 'draft', round, by: 'constraint', tokens: chain, parents, passes: 0, ms: 0 });
  }
  const ms = performance.now() - start;
  emit({ type: 'verify', round, by: 'target', path, next: next?.token ?? 0, source: 'sampled', ms });
  return commitOf(pass, path, choices, [...forced.map(() => 'forced' as const), 'sampled'], sequence);
};

/** Tokens chosen at these rows of a pass. */
export const commitOf = async (
  pass: Forward,
  path: readonly number[],
  choices: readonly Choice[],
  source: readonly Source[],
  sequence: Sequence,
): Promise<Commit> => ({
  tokens: choices.map(({ token }) => token),
  source,
  scores: await scoresOf(pass, path, choices, sequence),
});
