// Reads tokens, and counts the passes that takes: how many rows a pass reads is the cursor's own affair.
import type { Cursor, ExtendOptions, Forward } from '../../model/interface.ts';

/** As `cursor.extend`, with the number of its passes. */
export const extendCounted = async (
  cursor: Pick<Cursor, 'extend'>,
  tokens: readonly number[],
  options: ExtendOptions = {},
): Promise<{ readonly last: Forward; readonly passes: number }> => {
  let passes = 0;
  const last = await cursor.extend(tokens, {
    ...options,
    onPass(pass) {
      passes++;
      options.onPass?.(pass);
    },
  });
  return { last, passes };
};
