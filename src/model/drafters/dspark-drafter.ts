// Drafts with DSpark: one pass over the anchor and masks, then a walk from left to right that corrects each row's logits
// by the token drafted before it. A draft and the walk are recorded together; nothing is read before the verdict, unless
// confidences are asked for.

import { refuse } from '../../base/refuse.ts';
import { rowsOf } from '../arena.ts';
import { checkTokens } from '../check-tree.ts';
import type { DSpark } from '../families/dspark.ts';
import type { Pass } from '../forward/pass.ts';
import type {
  DeviceTensor,
  Drawn,
  Forward,
  MarkovBlock,
  MarkovCursor,
  MarkovDrafter,
  OpenDrafter,
  Sampling,
  Token,
} from '../interface.ts';
import { MOST_ROWS } from '../limits.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import { blockRows, NO_TOKEN } from './block-rows.ts';
import { deviceLimit } from './device-limit.ts';
import { MarkovWalk } from './markov-walk.ts';
import { type Context, ContextCursor, type DrafterParts, TapDrafter } from './tap-drafter.ts';

export class DSparkDrafter extends TapDrafter implements MarkovDrafter {
  readonly kind = 'dspark';
  readonly drafts: number;
  readonly blockSize: number;
  readonly confident: boolean;
  readonly maskToken: number;
  readonly firstRow: number;
  readonly temperatures: readonly number[] | null;
  ids: readonly number[] | null = null;
  readonly walk: MarkovWalk;

  constructor(parts: DrafterParts, { blockSize, maskToken, firstRow, temperatures, architecture }: DSpark) {
    super(parts);
    const heads = architecture.heads ?? { markov: null, confidence: null };
    this.blockSize = Math.min(blockSize, MOST_ROWS); // a pass has no more rows, and shrinking a block is safe
    this.drafts = this.blockSize - firstRow;
    this.confident = heads.confidence !== null;
    this.maskToken = maskToken;
    this.firstRow = firstRow;
    this.temperatures = temperatures;
    this.walk = new MarkovWalk(this.network, parts.arena, heads);
  }

  override async ready(): Promise<void> {
    await Promise.all([super.ready(), this.walk.ready()]);
  }

  async open(options: OpenDrafter = {}): Promise<MarkovCursor> {
    return new DSparkCursor(this, await this.allocate(options));
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.walk.free();
  }
}

class DSparkCursor extends ContextCursor implements MarkovCursor {
  readonly #drafter: DSparkDrafter;

  constructor(drafter: DSparkDrafter, context: Context) {
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

  base(anchor: Token, drafts: number): DeviceTensor {
    return this.#ownLogits(this.#score(anchor, drafts), drafts);
  }

  draft(anchor: Token, drafts: number, sampling: Sampling, { confidence = false } = {}): MarkovBlock {
    const { walk, network, firstRow, confident, temperatures } = this.#drafter;
    if (confidence && !confident) throw refuse('this drafter has no confidence head');
    const tokenRing = tokenRingOf(network.gpu);
    const pass = this.#score(anchor, drafts);
    const { length } = this;
    const corrected = this.#drafter.architecture.heads?.markov;
    const keep = sampling.temperature > 0;
    const drawn: Drawn[] = [];
    walk.begin();
    for (let row = firstRow; row < firstRow + drafts; row++) {
      const before = drawn.at(-1)?.token ?? anchor;
      if (corrected) walk.correct(row, tokenRing.name(before));
      if (confidence) walk.judge(row);
      // Where the anchor's row drafts, each row scores the token after its own position.
      drawn.push(pass.draw(row, sampling, length + row + (firstRow === 0 ? 1 : 0), keep));
    }
    const distributions = drawn.flatMap((each) => each.distribution ?? []);
    return {
      tokens: drawn.map(({ token }) => token),
      distributions: keep ? distributions : null,
      logits: this.#ownLogits(pass, drafts),
      confidences: async () => {
        if (!confidence) throw refuse('confidences were not asked for', 'Draft with { confidence: true }.');
        // The last draws are recorded with the others, before the submission ends.
        for (const { token } of drawn) token.record();
        const logits = await walk.readConfidence(firstRow, drafts);
        return Array.from(logits, (z, i) => 1 / (1 + Math.exp(-z / (temperatures?.[i] ?? 1))));
      },
      limit: (rule) => {
        if (!confidence) throw refuse('a limit without confidences', 'Draft with { confidence: true }.');
        return deviceLimit(walk.limit(rule, { first: firstRow, count: drafts, divisors: temperatures }));
      },
    };
  }

  /** One pass over the block. */
  #score(anchor: Token, drafts: number): Pass {
    const { executor, network, maskToken, firstRow, drafts: most } = this.#drafter;
    if (!Number.isInteger(drafts) || drafts < 1 || drafts > most)
      throw refuse(`a block of ${drafts} drafts; this drafter was trained for 1 to ${most}`);
    checkTokens([anchor], this.#drafter.target.vocabulary);
    const rows = drafts + firstRow;
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

  /** The rows that draft, over the drafter's own vocabulary. */
  #ownLogits(pass: Pass, drafts: number): DeviceTensor {
    const { network, firstRow, architecture } = this.#drafter;
    return pass.view(rowsOf(network.scratch.logits, drafts, firstRow), architecture.sizes.vocabulary);
  }
}
