// What DFlash and DSpark share: the anchor and masks go through the drafter in one pass. Every row sees the context and
// the block.
import { MOST_ROWS } from '../../base/pass-rows.ts';
import { checkTokens } from '../check-tree.ts';
import type { Pass } from '../forward/pass.ts';
import type { Forward, Token } from '../interface.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import { blockRows, NO_TOKEN } from './block-rows.ts';
import { type Context, ContextCursor, type DrafterParts, TapDrafter } from './tap-drafter.ts';

export abstract class MaskDrafter extends TapDrafter {
  readonly blockSize: number;
  readonly maskToken: number;
  ids: readonly number[] | null = null;

  constructor(parts: DrafterParts, { blockSize, maskToken }: { blockSize: number; maskToken: number }) {
    super(parts);
    this.blockSize = Math.min(blockSize, MOST_ROWS); // a pass has no more rows, and shrinking a block is safe
    this.maskToken = maskToken;
  }
}

export abstract class MaskCursor<D extends MaskDrafter> extends ContextCursor {
  protected readonly drafter: D;

  constructor(drafter: D, context: Context) {
    super(drafter, context);
    this.drafter = drafter;
  }

  append(pass: Pick<Forward, 'taps'>, rows: readonly number[]): void {
    this.put(
      pass,
      rows,
      rows.map(() => NO_TOKEN),
    );
  }

  /** One pass over a block of so many rows after the context. */
  protected fill(anchor: Token, rows: number): Pass {
    const { executor, network, maskToken, target } = this.drafter;
    checkTokens([anchor], target.vocabulary);
    this.room(rows);
    const named = tokenRingOf(network.gpu).name(anchor);
    this.flush();
    const block = { anchor: named, maskToken, rows, length: this.length };
    return executor.run({
      cache: this.context.cache,
      rows: { from: 'host', count: rows, rows: blockRows(network.architecture, block) },
      logits: 'all',
    });
  }
}
