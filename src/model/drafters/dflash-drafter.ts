// Drafts with DFlash: row j of a block scores the token at its own position; the anchor's row drafts nothing.

import { refuse } from '../../base/refuse.ts';
import { rowsOf } from '../arena.ts';
import { rowIn } from '../check-tree.ts';
import type { DFlash } from '../families/dflash.ts';
import type { BlockCursor, BlockDrafter, OpenDrafter, Scores, Token } from '../interface.ts';
import { MaskCursor, MaskDrafter } from './mask-drafter.ts';
import type { DrafterParts } from './tap-drafter.ts';

export class DFlashDrafter extends MaskDrafter implements BlockDrafter {
  readonly kind = 'dflash';

  constructor(parts: DrafterParts, { tapsBeforeNorm = false, ...block }: DFlash) {
    super(parts, block);
    this.tapsBeforeNorm = tapsBeforeNorm;
  }

  async open(options: OpenDrafter = {}): Promise<BlockCursor> {
    return new DFlashCursor(this, await this.allocate(options));
  }
}

class DFlashCursor extends MaskCursor<DFlashDrafter> implements BlockCursor {
  draft(anchor: Token, blockSize: number): Scores {
    const { network, blockSize: most } = this.drafter;
    if (!Number.isInteger(blockSize) || blockSize < 1 || blockSize > most)
      throw refuse(`a block of ${blockSize}; this drafter was trained for 1 to ${most}, the anchor counted`);
    const pass = this.fill(anchor, blockSize);
    const { length } = this;
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
