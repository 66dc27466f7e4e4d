// Drafts by looking the end of the text up in a suffix index: a tree of what followed there, with the chance of every node
// to be kept. Where a copied text was changed in one token, the copy goes on after it; where words match and their tokens
// do not, their letters are looked up. As much of a draft is verified as pays (paying-draft.ts).
import type { LanguageModel } from '../../model/interface.ts';
import { chainOf } from '../core/chain.ts';
import type { RunContext, Sequence } from '../core/system.ts';
import type { Drafter, Outcome } from './drafter.ts';
import { FollowedCopy } from './followed-copy.ts';
import { MatchAcceptance } from './match-acceptance.ts';
import { SuffixIndex } from './suffix-index.ts';
import { TextMatcher } from './text-match.ts';

export interface SuffixOptions {
  /** The longest match, tokens. */
  readonly match: number;
  /** The most levels and nodes of a draft, the anchor not counted. */
  readonly depth: number;
  readonly nodes: number;
}

/** Matches of so many tokens are not looked up letter by letter. */
const LONG = 6;

export type SuffixContext = Pick<RunContext, 'models' | 'fresh' | 'document' | 'tokenText' | 'retokenise'>;

const indices = new WeakMap<LanguageModel, SuffixIndex>();

/** What was written with this target: the texts of all runs since it was loaded; and the document of this run. */
const sessionIndex = ({ models: { target }, fresh, document = [] }: SuffixContext): SuffixIndex => {
  const index = (fresh ? null : indices.get(target)) ?? new SuffixIndex();
  if (!fresh) indices.set(target, index);
  index.hold(document);
  return index;
};

export class SuffixSource {
  readonly #index: SuffixIndex;
  readonly #options: SuffixOptions;
  readonly #acceptance = new MatchAcceptance();
  readonly #copy: FollowedCopy;
  readonly #texts: TextMatcher | null;
  /** Tokens of the sequence that the index has. */
  #known = 0;

  constructor(run: SuffixContext, options: SuffixOptions) {
    this.#index = sessionIndex(run);
    this.#options = options;
    this.#copy = new FollowedCopy(this.#index);
    const { tokenText, retokenise } = run;
    this.#texts = tokenText && retokenise && new TextMatcher({ tokenText, retokenise });
  }

  /** Looks the end of the text up; null: it is new. */
  propose({ tokens }: Sequence, most: number): ReturnType<MatchAcceptance['propose']> | null {
    if (this.#known === 0) this.#index.follow(tokens);
    this.#append(tokens.slice(this.#known));
    const { match: longest, depth, nodes } = this.#options;
    const match = this.#index.match(longest);
    const { resumed } = this.#copy;
    const chance = match ? this.#acceptance.chance(match.length) : 0;
    const levels = Math.min(most, depth);
    if (resumed && this.#acceptance.chance(0) > chance)
      return this.#acceptance.propose(this.#index.grow(resumed, { nodes, depth: levels }), 0);
    const length = match?.length ?? 0;
    const text = length < LONG ? this.#texts?.match(length) : null;
    this.#copy.follow(text ? null : match);
    if (text) {
      const chain = [tokens.at(-1) as number, ...text.following.slice(0, Math.min(levels, nodes))];
      const tree = { tokens: chain, parents: chainOf(chain).parents, shares: chain.map(() => 1) };
      return this.#acceptance.propose(tree, text.length);
    }
    return match && this.#acceptance.propose(this.#index.grow(match, { nodes, depth: levels }), match.length);
  }

  /** After every round: what was committed, whether or not its proposal was verified. */
  observe({ choices }: Pick<Outcome, 'choices'>): void {
    const committed = choices.map(({ token }) => token);
    // An answer's last tokens too, after which nothing is looked up any more.
    if (this.#known > 0) this.#append(committed);
    this.#acceptance.observe(committed);
  }

  #append(tokens: readonly number[]): void {
    this.#copy.append(tokens);
    // `follow` has appended the first text.
    if (this.#known > 0) this.#index.append(tokens);
    this.#texts?.append(tokens);
    this.#known += tokens.length;
  }
}

export const suffixDrafter = (source: SuffixSource): Drafter => ({
  by: 'lookup',
  onHost: true,
  propose: (sequence, most) => source.propose(sequence, most),
  observe: (outcome) => source.observe(outcome),
});
