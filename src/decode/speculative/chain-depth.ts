// How many tokens a drafter should write: as many as are expected to commit most tokens for their time, by how often each
// place of a draft was kept so far and by what a round of so many costs.
import type { RoundKind } from '../core/round-cost.ts';
import type { Place } from '../core/timings.ts';

/**
 * The share of drafts that is assumed to be kept in the first place. It counts as much as so many rounds, and so does
 * the share of each place in what is assumed of the next one.
 */
const ASSUMED = { share: 0.6, rounds: 4 } as const;
/**
 * How much an older round counts, for each that came after it. What is known of places that drafts no longer reach is
 * forgotten as fast, or a few bad rounds would keep drafts short for good.
 */
const DECAY = 0.97;

export interface ChainDepthOptions {
  readonly most: number;
  /** Of a round, in plain rounds. */
  readonly cost: (kind: RoundKind) => number;
  /** Rows of the target's pass, and passes of the drafter, by the depth of a draft. */
  readonly nodes: (depth: number) => number;
  readonly passes: (depth: number) => number;
  /** What earlier runs have shown; this one goes on with it. */
  readonly places: Place[];
}

export class ChainDepth {
  readonly #options: ChainDepthOptions;

  constructor(options: ChainDepthOptions) {
    this.#options = options;
    const { places, most } = options;
    while (places.length < most) places.push({ tested: 0, kept: 0 });
  }

  /** A draft of `depth` tokens was verified and its first `kept` ones were kept. The first refused one was tested. */
  add(depth: number, kept: number): void {
    for (const [index, place] of this.#options.places.entries()) {
      const tested = index < Math.min(depth, kept + 1);
      place.tested = DECAY * place.tested + Number(tested);
      place.kept = DECAY * place.kept + Number(tested && index < kept);
    }
  }

  /**
   * At least one deep, so that every round is evidence; `rate`: tokens expected in the time of a plain round. A place
   * that was hardly tested is taken to be like the one before.
   */
  get best(): { readonly depth: number; readonly rate: number } {
    const { cost, nodes, passes, places } = this.#options;
    let [best, reached, expected, share] = [{ depth: 1, rate: 0 }, 1, 1, ASSUMED.share as number];
    for (const [index, { tested, kept }] of places.entries()) {
      share = (kept + ASSUMED.rounds * share) / (tested + ASSUMED.rounds);
      reached *= share;
      expected += reached;
      const depth = index + 1;
      const rate = expected / cost({ nodes: nodes(depth), passes: passes(depth) });
      if (rate > best.rate) best = { depth, rate };
    }
    return best;
  }
}
