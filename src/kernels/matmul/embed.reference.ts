/** Rows of the table, scaled. */
export const embedReference = (
  table: readonly (readonly number[])[],
  tokens: readonly number[],
  scale = 1,
): number[][] => tokens.map((token) => (table[token] as readonly number[]).map((x) => x * scale));
