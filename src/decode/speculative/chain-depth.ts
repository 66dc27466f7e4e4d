// How many tokens a drafter should write that writes one after another: as many as are expected to commit most tokens
// for their time, by how often each place of a draft was kept so far and by what a round of so many costs. It goes by
// counts alone where `cost` does: where drafts are drawn at random, their number decides what is drawn.
import type { RoundKind } from '../core/round-cost.ts';

/**
 * What is assumed of a place that was not tested yet: the share that is kept there is that of the place before, and at
 * least this. It counts as much as so many rounds.
 */
const ASSUMED = { share: 0.6, rounds: 4 } as const;
/** How much an older round counts, for each that came after it. */
const DECAY = 0.97;

export interface ChainDepthOptions {
  readonly most: number;
  /** Of a round, in plain rounds. */
  readonly cost: (kind: RoundKind) => number;
  /** Rows of the target's pass, by the depth of a draft. */
  readonly nodes: (depth: number) => number;
}

export class ChainDepth {
  readonly #options: ChainDepthOptions;
  /** By place: how many drafts were tested there, and how many of them were kept. */
  readonly #places: { tested: number; kept: number }[];

  constructor(options: ChainDepthOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.most }, () => ({ tested: 0, kept: 0 }));
  }

  /** A draft of `depth` tokens was verified and its first `kept` ones were kept. The first refused one was tested. */
  add(depth: number, kept: number): void {
    for (const [place, counts] of this.#places.slice(0, Math.min(depth, kept + 1)).entries()) {
      counts.tested = DECAY * counts.tested + 1;
      counts.kept = DECAY * counts.kept + (place < kept ? 1 : 0);
    }
  }

  /** At least one, so that every round is evidence. */
  get depth(): number {
    const { cost, nodes } = this.#options;
    const { share, rounds } = ASSUMED;
    let [best, bestRate, reached, expected, before] = [1, 0, 1, 1, share];
    for (const [place, { tested, kept }] of this.#places.entries()) {
      before = (kept + rounds * Math.max(share, before)) / (tested + rounds);
      reached *= before;
      expected += reached;
      const depth = place + 1;
      const rate = expected / cost({ nodes: nodes(depth), passes: depth });
      if (rate > bestRate) [best, bestRate] = [depth, rate];
    }
    return best;
  }
}
