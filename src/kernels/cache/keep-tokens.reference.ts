import type { Row } from './rows.ts';

/** `ring`: the tokens of the token ring's entries. */
export const keepTokensReference = (
  tokens: readonly number[],
  rows: readonly Pick<Row, 'token' | 'ringEntry' | 'slot' | 'alive'>[],
  ring: readonly number[],
): number[] => {
  const after = [...tokens];
  for (const { token, ringEntry, slot, alive } of rows)
    if (alive) after[slot] = ringEntry > 0 ? (ring[ringEntry - 1] as number) : token;
  return after;
};
