import type { Move } from './compact.ts';

/** Rows of a cache after the moves, made in order. */
export const compactReference = <T>(cache: readonly T[], moves: readonly Move[]): T[] => {
  const rows = [...cache];
  for (const { from, to } of moves) rows[to] = rows[from] as T;
  return rows;
};
