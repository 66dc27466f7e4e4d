// Drafts with DFlash: the anchor and masks go through the drafter in one pass. Every row sees the context and the whole
// block, and row j scores the token at its own position.

import { refuse } from '../../base/refuse.ts';
import { CHUNK } from '../../kernels/attention/attention-shape.ts';
import type { Row } from '../../kernels/cache/rows.ts';
import { checkTokens, rowIn } from '../check-tree.ts';
import type { DFlash } from '../families/dflash.ts';
import type { RowsOf } from '../forward/executor.ts';
import type { BlockCursor, BlockDrafter, Forward, OpenDrafter, Scores, Token } from '../interface.ts';
import { MOST_ROWS } from '../limits.ts';
import { type NamedToken, tokenRingOf } from '../sampling/token-ring.ts';
import { type Context, ContextCursor, type DrafterParts, TapDrafter } from './tap-drafter.ts';

/** A context row is made of taps alone; no kernel reads its token. */
const NO_TOKEN = 0;

export class DFlashDrafter extends TapDrafter implements BlockDrafter {
  readonly kind = 'dflash';
  readonly blockSize: number;
  readonly maskToken: number;

  constructor(parts: DrafterParts, { blockSize, maskToken }: DFlash) {
    super(parts);
    this.blockSize = Math.min(blockSize, MOST_ROWS); // a pass has no more rows, and shrinking a block is safe
    this.maskToken = maskToken;
  }

  async open(options: OpenDrafter = {}): Promise<BlockCursor> {
    return new DFlashCursor(this, await this.allocate(options));
  }
}

/** The rows of a block after `length` rows of context; a window hides what lies `window` or more positions away. */
const blockRows = (tokens: readonly NamedToken[], length: number, window: number | null): Row[] => {
  const end = length + tokens.length;
  return tokens.map((token, i) => {
    const position = length + i;
    const lowest = window === null ? 0 : Math.max(0, position - window + 1);
    return {
      ...token,
      position,
      slot: position,
      prefix: length,
      first: Math.min(lowest, length),
      start: Math.max(lowest, length),
      end: window === null ? end : Math.min(end, position + window),
      base: end,
      maskLow: 0,
      maskHigh: 0,
      chunkBoundary: (Math.floor(end / CHUNK) + 1) * CHUNK,
      alive: 1,
    };
  });
};

class DFlashCursor extends ContextCursor implements BlockCursor {
  readonly #drafter: DFlashDrafter;

  constructor(drafter: DFlashDrafter, context: Context) {
    super(drafter, context);
    this.#drafter = drafter;
  }

  append(pass: Pick<Forward, 'taps'>, rows: readonly number[]): void {
    this.put(
      pass,
      rows,
      rows.map(() => NO_TOKEN),
    );
  }

  draft(anchor: Token, blockSize: number): Scores {
    const { executor, network, maskToken, blockSize: most } = this.#drafter;
    if (!Number.isInteger(blockSize) || blockSize < 1 || blockSize > most)
      throw refuse(`a block of ${blockSize}; this drafter was trained for 1 to ${most}, the anchor counted`);
    checkTokens([anchor], this.#drafter.target.vocabulary);
    this.room(blockSize);
    const masks = Array<NamedToken>(blockSize - 1).fill({ token: maskToken, ringEntry: 0 });
    const tokens = [tokenRingOf(network.gpu).name(anchor), ...masks];
    this.flush();
    const { length } = this;
    const rows: RowsOf = (window) => blockRows(tokens, length, window);
    const { cache } = this.context;
    const pass = executor.run({ cache, rows: { from: 'host', count: blockSize, rows }, logits: 'all' });
    return {
      rows: blockSize,
      logits: pass.logits(0, blockSize),
      draw: (row, sampling, options) => pass.draw(rowIn(row, blockSize), sampling, length + row, options?.distribution),
      top: (of, n) =>
        pass.top(
          of.map((row) => rowIn(row, blockSize)),
          n,
        ),
    };
  }
}
