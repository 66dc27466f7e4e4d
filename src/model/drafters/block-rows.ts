// The rows of a block of masks after the committed rows: what DFlash and DSpark score in one pass.
import { CHUNK } from '../../kernels/attention/attention-shape.ts';
import type { Row } from '../../kernels/cache/rows.ts';
import type { Architecture } from '../architecture.ts';
import type { RowsOf } from '../forward/pass-rows.ts';
import type { NamedToken } from '../sampling/token-ring.ts';

/** A context row is made of taps alone; no kernel reads its token. */
export const NO_TOKEN = 0;

/**
 * Full layers see the whole block. A window hides what lies `window` or more positions away; where the layer is causal,
 * as sliding layers are by default, a row sees no row after itself.
 */
const rowsFor = (tokens: readonly NamedToken[], length: number, window: number | null, causal: boolean): Row[] => {
  const end = length + tokens.length;
  return tokens.map((token, i) => {
    const position = length + i;
    const lowest = window === null ? 0 : Math.max(0, position - window + 1);
    const ahead = causal ? position + 1 : end;
    return {
      ...token,
      position,
      slot: position,
      prefix: length,
      first: Math.min(lowest, length),
      start: Math.max(lowest, length),
      end: window === null ? ahead : Math.min(ahead, position + window),
      base: end,
      maskLow: 0,
      maskHigh: 0,
      chunkBoundary: (Math.floor(end / CHUNK) + 1) * CHUNK,
      alive: 1,
    };
  });
};

/** `[anchor, MASK …]`, `rows` of them, after `length` rows of context. */
export const blockRows = (
  { blocks }: Pick<Architecture, 'blocks'>,
  { anchor, maskToken, rows, length }: { anchor: NamedToken; maskToken: number; rows: number; length: number },
): RowsOf => {
  const tokens = [anchor, ...Array<NamedToken>(rows - 1).fill({ token: maskToken, ringEntry: 0 })];
  return (window) => {
    const causal = blocks.some(({ mixer }) => mixer.kind === 'attention' && mixer.window === window && mixer.causal);
    return rowsFor(tokens, length, window, causal);
  };
};
