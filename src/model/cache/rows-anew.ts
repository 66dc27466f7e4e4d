// Rows that are computed anew, from the tokens that the cache has kept (long-rope.ts, window-ring.ts).
import { MOST_ROWS } from '../../base/pass-rows.ts';
import type { Past } from './visibility.ts';

/** So many rows, after this past; at most 16. */
export interface RowsAnew {
  readonly past: Past;
  readonly count: number;
}

/** A past's rows from these on, of the shared ones and of its own, in order. */
export const rowsAnew = ({ prefix, start, own }: Past, firstShared: number, firstOwn: number): readonly RowsAnew[] => {
  const rows: RowsAnew[] = [];
  for (let row = firstShared; row < prefix; row += MOST_ROWS)
    rows.push({ past: { prefix: row, start: row, own: 0 }, count: Math.min(MOST_ROWS, prefix - row) });
  for (let row = firstOwn; row < own; row += MOST_ROWS)
    rows.push({ past: { prefix, start, own: row }, count: Math.min(MOST_ROWS, own - row) });
  return rows;
};
