/** The rows of a pass at their slots; a dead row is not kept. Moved rows: compact.reference.ts. */
export const keepRowsReference = <T>(
  kept: readonly T[],
  input: readonly T[],
  rows: readonly { readonly slot: number; readonly alive: number }[],
): T[] => {
  const after = [...kept];
  rows.forEach(({ slot, alive }, i) => {
    if (alive) after[slot] = input[i] as T;
  });
  return after;
};

/** The mean of the rows at these slots; zeros for none. */
export const meanRowsReference = (kept: readonly (readonly number[])[], slots: readonly number[]): number[] =>
  (kept[0] ?? []).map(
    (_, d) => slots.reduce((sum, slot) => sum + (kept[slot]?.[d] as number), 0) / Math.max(1, slots.length),
  );
