// Drafts with DFlash: the anchor and masks go through the drafter in one pass. Every row sees the context and the whole
// block, and row j scores the token at its own position.

import { refuse } from '../../base/refuse.ts';
import { rowsOf } from '../arena.ts';
import { checkTokens, rowIn } from '../check-tree.ts';
import type { DFlash } from '../families/dflash.ts';
import type { BlockCursor, BlockDrafter, Forward, OpenDrafter, Scores, Token } from '../interface.ts';
import { MOST_ROWS } from '../limits.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import { blockRows, NO_TOKEN } from './block-rows.ts';
import { type Context, ContextCursor, type DrafterParts, TapDrafter } from './tap-drafter.ts';

export class DFlashDrafter extends TapDrafter implements BlockDrafter {
  readonly kind = 'dflash';
  readonly blockSize: number;
  readonly maskToken: number;
  ids: readonly number[] | null = null;

  constructor(parts: DrafterParts, { blockSize, maskToken }: DFlash) {
    super(parts);
    this.blockSize = Math.min(blockSize, MOST_ROWS); // a pass has no more rows, and shrinking a block is safe
    this.maskToken = maskToken;
  }

  async open(options: OpenDrafter = {}): Promise<BlockCursor> {
    return new DFlashCursor(this, await this.allocate(options));
  }
}

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
    const named = tokenRingOf(network.gpu).name(anchor);
    this.flush();
    const { length } = this;
    const rows = blockRows(network.architecture, { anchor: named, maskToken, rows: blockSize, length });
    const { cache } = this.context;
    const pass = executor.run({ cache, rows: { from: 'host', count: blockSize, rows }, logits: 'all' });
    return {
      rows: blockSize,
      logits: pass.view(rowsOf(network.scratch.logits, blockSize), network.architecture.sizes.vocabulary),
      draw: (row, sampling, options) => pass.draw(rowIn(row, blockSize), sampling, length + row, options?.distribution),
      top: (of, n) =>
        pass.top(
          of.map((row) => rowIn(row, blockSize)),
          n,
        ),
    };
  }
}
