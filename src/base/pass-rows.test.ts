import { expect, it } from 'vitest';
import { PASS_ROWS, paddedRows } from './pass-rows.ts';

it('pads rows to the next pass that is recorded, and more than 16 to several passes', () => {
  expect([1, 3, 8, 9, 12, 13, 16, 17, 24, 27, 59].map(paddedRows)).toEqual([1, 4, 8, 12, 12, 16, 16, 17, 24, 28, 60]);
  for (const rows of PASS_ROWS) expect(paddedRows(rows)).toBe(rows);
});
