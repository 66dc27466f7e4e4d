// Drafts with DSpark: after the pass over a block, a walk from left to right corrects each row's logits by the token
// drafted before it. A draft and the walk are recorded together; nothing is read before the verdict, unless confidences
// are asked for.

import { refuse } from '../../base/refuse.ts';
import { rowsOf } from '../arena.ts';
import type { DSpark } from '../families/dspark.ts';
import type { Pass } from '../forward/pass.ts';
import type {
  DeviceTensor,
  Drawn,
  MarkovBlock,
  MarkovCursor,
  MarkovDrafter,
  OpenDrafter,
  Sampling,
  Token,
} from '../interface.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import { deviceLimit } from './device-limit.ts';
import { MarkovWalk } from './markov-walk.ts';
import { MaskCursor, MaskDrafter } from './mask-drafter.ts';
import type { DrafterParts } from './tap-drafter.ts';

export class DSparkDrafter extends MaskDrafter implements MarkovDrafter {
  readonly kind = 'dspark';
  readonly drafts: number;
  readonly confident: boolean;
  readonly firstRow: number;
  readonly temperatures: readonly number[] | null;
  readonly walk: MarkovWalk;

  constructor(parts: DrafterParts, { firstRow, temperatures, architecture, ...block }: DSpark) {
    super(parts, block);
    const heads = architecture.heads ?? { markov: null, confidence: null };
    this.drafts = this.blockSize - firstRow;
    this.confident = heads.confidence !== null;
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

class DSparkCursor extends MaskCursor<DSparkDrafter> implements MarkovCursor {
  base(anchor: Token, drafts: number): DeviceTensor {
    return this.#ownLogits(this.#score(anchor, drafts), drafts);
  }

  draft(anchor: Token, drafts: number, sampling: Sampling, { confidence = false } = {}): MarkovBlock {
    const { walk, network, firstRow, confident, temperatures } = this.drafter;
    if (confidence && !confident) throw refuse('this drafter has no confidence head');
    const tokenRing = tokenRingOf(network.gpu);
    const pass = this.#score(anchor, drafts);
    const { length } = this;
    const corrected = this.drafter.architecture.heads?.markov;
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
    const { firstRow, drafts: most } = this.drafter;
    if (!Number.isInteger(drafts) || drafts < 1 || drafts > most)
      throw refuse(`a block of ${drafts} drafts; this drafter was trained for 1 to ${most}`);
    return this.fill(anchor, drafts + firstRow);
  }

  /** The rows that draft, over the drafter's own vocabulary. */
  #ownLogits(pass: Pass, drafts: number): DeviceTensor {
    const { network, firstRow, architecture } = this.drafter;
    return pass.view(rowsOf(network.scratch.logits, drafts, firstRow), architecture.sizes.vocabulary);
  }
}
