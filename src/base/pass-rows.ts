// Rows that a pass is recorded for; missing rows are padded. So passes of as many rows after padding cost the same.

export const PASS_ROWS = [1, 2, 4, 8, 12, 16] as const;
export type PassRowCount = (typeof PASS_ROWS)[number];

/** Rows of the largest pass that scores all of its rows. */
export const MOST_ROWS = 16;

/** Rows of a pass that reads a prompt, where it may have more than those. */
export const PROMPT_ROWS = 32;

/** The rows that are computed for so many; more than MOST_ROWS take several passes. */
export const paddedRows = (rows: number): number => {
  const whole = MOST_ROWS * Math.floor(rows / MOST_ROWS);
  const rest = rows - whole;
  return rest === 0 ? whole : whole + (PASS_ROWS.find((count) => count >= rest) as number);
};
