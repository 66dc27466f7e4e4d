// Medians and ranges. A benchmark reports them instead of means, because a busy machine has outliers on one side only.

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};

/** Null for an empty list. */
export const spread = (values: readonly number[]): Spread | null =>
  values.length === 0 ? null : { median: median(values), min: Math.min(...values), max: Math.max(...values) };
