// Drafts by looking the end of the text up in a suffix index: a tree of what followed there, with the chance of every node
// to be kept. As much of it is verified as pays (paying-draft.ts).
import type { LanguageModel } from '../../model/interface.ts';
import type { RunContext, Sequence } from '../core/system.ts';
import type { Drafter, Outcome } from './drafter.ts';
import { MatchAcceptance } from './match-acceptance.ts';
import { SuffixIndex } from './suffix-index.ts';

export interface SuffixOptions {
  /** The longest match, tokens. */
  readonly match: number;
  /** The most levels and nodes of a draft, the anchor not counted. */
  readonly depth: number;
  readonly nodes: number;
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
  readonly #acceptance = new MatchAcceptance();
  /** Tokens of the sequence that the index has. */
  #known = 0;

  constructor(index: SuffixIndex, options: SuffixOptions) {
    this.#index = index;
    this.#options = options;
  }

  /** Looks the end of the text up; null: it is new. */
  propose({ tokens }: Sequence, most: number): ReturnType<MatchAcceptance['propose']> | null {
    if (this.#known === 0) this.#index.follow(tokens);
    else this.#index.append(tokens.slice(this.#known));
    this.#known = tokens.length;
    const { match: longest, depth, nodes } = this.#options;
    const match = this.#index.match(longest);
    if (!match) return null;
    const tree = this.#index.grow(match, { nodes, depth: Math.min(most, depth) });
    return this.#acceptance.propose(tree, match.length);
  }

  /** After every round: what was committed, whether or not its proposal was verified. */
  observe({ choices }: Pick<Outcome, 'choices'>): void {
    const committed = choices.map(({ token }) => token);
    // An answer's last tokens too, after which nothing is looked up any more.
    if (this.#known > 0) {
      this.#index.append(committed);
      this.#known += committed.length;
    }
    this.#acceptance.observe(committed);
  }
}

export const suffixDrafter = (source: SuffixSource): Drafter => ({
  by: 'lookup',
  onHost: true,
  propose: (sequence, most) => source.propose(sequence, most),
  observe: (outcome) => source.observe(outcome),
});
