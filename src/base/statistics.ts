// Medians, ranges and confidence intervals. A benchmark reports medians instead of means, because a busy machine has
// outliers on one side only.

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Of ascending values; linear between neighbours, as in NumPy. */
export const quantile = (ascending: ArrayLike<number>, share: number): number => {
  const place = share * (ascending.length - 1);
  const [below, above] = [ascending[Math.floor(place)] as number, ascending[Math.ceil(place)] as number];
  return below + (above - below) * (place - Math.floor(place));
};

export const median = (values: readonly number[]): number => quantile(Float64Array.from(values).sort(), 0.5);

/** Null for an empty list. */
export const spread = (values: readonly number[]): Spread | null =>
  values.length === 0 ? null : { median: median(values), min: Math.min(...values), max: Math.max(...values) };

/** The ends of a 95 % confidence interval. */
export type Interval = readonly [low: number, high: number];

/** A figure of some units, such as prompts: `drawn` lists their indices, some of them more than once. */
export type Statistic = (drawn: ArrayLike<number>) => number | null;

const RESAMPLES = 1000;

/** Mulberry32: a generator with 32 bits of state, so that every reader gets the same intervals. */
const uniforms = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** 0 to `count` - 1 in an order that `seed` draws (Fisher and Yates 1938). */
export const shuffled = (count: number, seed: number): readonly number[] => {
  const next = uniforms(seed);
  const order = Array.from({ length: count }, (_, i) => i);
  for (let last = count - 1; last > 0; last--) {
    const other = Math.floor(next() * (last + 1));
    [order[last], order[other]] = [order[other] as number, order[last] as number];
  }
  return order;
};

/** Units drawn anew with replacement, a thousand times: the same draws for as many units and the same seed. */
function* draws(units: number, seed = 1): Generator<ArrayLike<number>> {
  const next = uniforms(seed);
  const drawn = new Uint32Array(units);
  for (let i = 0; units > 1 && i < RESAMPLES; i++) {
    for (let j = 0; j < units; j++) drawn[j] = next() * units;
    yield drawn;
  }
}

/**
 * The 95 % interval of each figure by the percentile bootstrap (Efron 1979): units are drawn anew with replacement.
 * All figures of as many units see the same draws, so a ratio of two systems is paired. Null below two units, and
 * where fewer than half of the draws have a value.
 */
export const intervals = <Name extends string>(
  units: number,
  statistics: Readonly<Record<Name, Statistic>>,
  seed?: number,
): Readonly<Record<Name, Interval | null>> => {
  const names = Object.keys(statistics) as Name[];
  const values = new Map(names.map((name) => [name, [] as number[]]));
  for (const drawn of draws(units, seed))
    for (const name of names) {
      const value = statistics[name](drawn);
      if (value !== null && Number.isFinite(value)) values.get(name)?.push(value);
    }
  const ends = (name: Name): Interval | null => {
    const all = Float64Array.from(values.get(name) ?? []).sort();
    return all.length < RESAMPLES / 2 ? null : [quantile(all, 0.025), quantile(all, 0.975)];
  };
  return Object.fromEntries(names.map((name) => [name, ends(name)])) as Record<Name, Interval | null>;
};

/** The share of the same draws in which a figure is at least so much; null below two units. */
export const shareOfDraws = (units: number, statistic: Statistic, least: number): number | null => {
  let reached = 0;
  for (const drawn of draws(units)) if ((statistic(drawn) ?? Number.NEGATIVE_INFINITY) >= least) reached++;
  return units > 1 ? reached / RESAMPLES : null;
};
