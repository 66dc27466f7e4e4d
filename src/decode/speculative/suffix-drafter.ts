// Drafts by looking the end of the text up in a suffix index: a tree of what followed there. How many tokens it drafts
// follows the measured acceptance, separately for matches of each length.
import type { LanguageModel } from '../../model/interface.ts';
import { Acceptance } from '../core/acceptance.ts';
import type { RunContext, Sequence } from '../core/system.ts';
import type { Drafter, Outcome, Proposal } from './speculate.ts';
import { SuffixIndex } from './suffix-index.ts';

/** What a draft costs, in plain tokens: a row of the target's pass. */
const COST = 0.25;
/** Small, because text changes between copying and not copying within a few rounds. */
const DECAY = 0.6;
/** Once drafts after a match of one token no longer pay, one in so many of them is tried. */
const TRY_EVERY = 8;
/** The assumed acceptance after a match of one, two, three and more tokens: long matches are right more often. */
const ASSUMED = [0.4, 0.6, 0.8, 0.9] as const;

export interface SuffixOptions {
  /** The longest match, tokens. */
  readonly match: number;
  /** The most levels and nodes of a draft. */
  readonly depth: number;
  readonly nodes: number;
}

/** A look-up, before it is decided whether to draft by it. */
export interface Found {
  /** The length of the match, which says how far to trust it. */
  readonly match: number;
  /** Tokens that a draft is expected to have kept. */
  readonly expected: number;
  propose(): Proposal;
}

const indices = new WeakMap<LanguageModel, SuffixIndex>();

/** What was written with this target: the texts of all runs since it was loaded; and the document of this run. */
export const sessionIndex = ({
  models: { target },
  fresh,
  document = [],
}: Pick<RunContext, 'models' | 'fresh' | 'document'>): SuffixIndex => {
  const index = (fresh ? null : indices.get(target)) ?? new SuffixIndex();
  if (!fresh) indices.set(target, index);
  index.hold(document);
  return index;
};

export class SuffixSource {
  readonly #index: SuffixIndex;
  readonly #options: SuffixOptions;
  readonly #acceptance: readonly Acceptance[];
  /** Tokens of the sequence that the index has. */
  #known = 0;
  /** Matches for which drafting does not pay by the measured acceptance. */
  #unpaid = 0;
  #proposed: { readonly match: number; readonly depth: number } | null = null;

  constructor(index: SuffixIndex, options: SuffixOptions) {
    this.#index = index;
    this.#options = options;
    this.#acceptance = ASSUMED.map(
      (begin, i) => new Acceptance({ cost: COST, most: options.depth, least: i === 0 ? 0 : 1, begin, decay: DECAY }),
    );
  }

  /** Looks the end of the text up; null: nothing is found, or too little to draft by. */
  find({ tokens }: Sequence, most: number): Found | null {
    if (this.#known === 0) this.#index.follow(tokens);
    else this.#index.append(tokens.slice(this.#known));
    this.#known = tokens.length;
    const { match: longest, depth, nodes } = this.#options;
    const match = this.#index.match(longest);
    if (!match) return null;
    const wanted = this.#of(match.length).drafts;
    if (wanted === 0 && ++this.#unpaid % TRY_EVERY > 0) return null;
    const levels = Math.min(Math.max(1, wanted), most, depth);
    return {
      match: match.length,
      expected: this.#of(match.length).expected(levels),
      propose: () => {
        const tree = this.#index.grow(match, { nodes: Math.min(nodes, Math.max(levels, 3)), depth: levels });
        this.#proposed = { match: match.length, depth: tree.depth };
        return { by: 'lookup', tree, distributions: null, nodes: tree.tokens.length, passes: 0 };
      },
    };
  }

  /** Its proposal is not used after all. */
  withdraw(): void {
    this.#proposed = null;
  }

  /** After every round: what was committed, and how many drafts of its proposal were kept. */
  observe({ choices }: Pick<Outcome, 'choices'>, kept: number): void {
    // An answer's last tokens too, after which nothing is looked up any more.
    if (this.#known > 0) {
      this.#index.append(choices.map(({ token }) => token));
      this.#known += choices.length;
    }
    if (this.#proposed) this.#of(this.#proposed.match).add(this.#proposed.depth, Math.min(kept, this.#proposed.depth));
    this.#proposed = null;
  }

  #of(match: number): Acceptance {
    return this.#acceptance[Math.min(match, ASSUMED.length) - 1] as Acceptance;
  }
}

export const suffixDrafter = (source: SuffixSource): Drafter => ({
  by: 'lookup',
  onHost: true,
  propose(sequence, most) {
    const proposal = source.find(sequence, most)?.propose();
    return proposal && proposal.nodes > 1 ? proposal : null;
  },
  observe: (outcome) => source.observe(outcome, outcome.path.length - 1),
});
