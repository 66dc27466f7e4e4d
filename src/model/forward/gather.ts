// Reads many small values at once: draws of several passes, the grounding of rows, and the means of their hidden
// states. It takes one submit and one readback, however many values there are.

import { refuse } from '../../base/refuse.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Tensor } from '../../gpu/kernel.ts';
import { CHOICE_WORDS, unpackChoices } from '../../kernels/sampling/sample.ts';
import type { CachedCursor } from '../cache/cursor.ts';
import type { Pool, Runs } from '../cache/pooled-states.ts';
import { slotsOf } from '../cache/visibility.ts';
import type { Choice, Drawn, Gathered } from '../interface.ts';
import { toChoice } from '../sampling/sampler.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';

interface Rows {
  readonly cursor: CachedCursor;
  readonly first: number;
  readonly count: number;
}

const runsOf = ({ cursor, first, count }: Rows): Runs => {
  if (![first, count].every((n) => Number.isInteger(n) && n >= 0) || first + count > cursor.length)
    throw refuse(`rows ${first} to ${first + count} of a cursor of ${cursor.length}`);
  return slotsOf(cursor.past, first, count);
};

/** The same entries in ascending order, each once, as runs of neighbours: two where the ring of draws began anew. */
const neighbours = (entries: readonly number[]): readonly Runs[number][] => {
  const runs: { first: number; count: number }[] = [];
  for (const entry of [...new Set(entries)].toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && last.first + last.count === entry) last.count++;
    else runs.push({ first: entry, count: 1 });
  }
  return runs;
};

/** The floats of a run of slots. */
const slotsIn = (store: Tensor, { first, count }: Runs[number]): Tensor => {
  const bytes = (store.shape[1] as number) * 4;
  return { ...store, offset: first * bytes, bytes: count * bytes };
};

/** The means of all spans of rows. A cursor and its forks share one pool, whose means one dispatch makes. */
const meansOf = (rows: readonly Rows[], runs: readonly Runs[]): readonly Tensor[] => {
  const pools = new Map<Pool, Runs[]>();
  rows.forEach(({ cursor: { cache } }, i) => {
    const pool = cache.pool;
    if (pool) pools.set(pool, [...(pools.get(pool) ?? []), runs[i] as Runs]);
  });
  if (pools.size > 1 || [...pools].some(([{ most }, spans]) => spans.length > most))
    throw refuse(
      `means of ${rows.length} spans; at most ${[...pools.keys()][0]?.most} of one cursor and its forks can be had`,
    );
  return [...pools].map(([pool, spans]) => pool.means(spans));
};

export const gather = async (gpu: Gpu, draws: readonly Drawn[], rows: readonly Rows[]): Promise<Gathered> => {
  const tokenRing = tokenRingOf(gpu);
  const entries = draws.map(({ token }) => tokenRing.ring.entry(token.record()));
  const drawn = neighbours(entries);
  const runs = rows.map(runsOf);
  const sources = [
    ...drawn.map(({ first, count }) => tokenRing.entries(first, count)),
    ...rows.flatMap(({ cursor: { cache } }, i) => {
      const rolloutState = cache.rolloutState;
      return rolloutState ? (runs[i] as Runs).map((run) => slotsIn(rolloutState.tensor, run)) : [];
    }),
    ...meansOf(rows, runs),
  ].filter(({ bytes }) => bytes > 0);
  if (sources.length === 0) return { choices: [], grounding: [], pooled: [] };
  const data = gpu.submission.readAll(sources);
  gpu.flush();
  const bytes = await data;

  const drawnEntries = drawn.flatMap(({ first, count }) => Array.from({ length: count }, (_, i) => first + i));
  let at = drawnEntries.length * CHOICE_WORDS * 4;
  const choices = new Map(unpackChoices(bytes.slice(0, at)).map((choice, i) => [drawnEntries[i], toChoice(choice)]));
  const next = (length: number): Float32Array => {
    const part = new Float32Array(bytes, at, length);
    at += length * 4;
    return part;
  };
  const grounding = rows.map(({ cursor: { cache }, count }) => {
    const rolloutState = cache.rolloutState;
    if (!rolloutState) return new Float32Array(0);
    const width = rolloutState.tensor.shape[1] as number;
    const values = next(count * width);
    return Float32Array.from({ length: count }, (_, i) => values[i * width + rolloutState.grounding] as number);
  });
  const pooled = rows.map(({ cursor: { cache } }) => {
    const pool = cache.pool;
    return pool ? next(pool.tensor.shape[1] as number).slice(0, pool.hidden) : new Float32Array(0);
  });
  return {
    choices: entries.map((entry) => choices.get(entry) as Choice),
    grounding,
    pooled,
  };
};
