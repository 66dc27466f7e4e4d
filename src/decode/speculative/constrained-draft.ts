// A draft whose tokens the host knows, under a constraint: text that must come is put in front of it, the token that ends
// this text is drafted, nodes that the constraint forbids are left out, and rows that the pass computes anyway are filled
// with the text that must follow.
import { MOST_ROWS, paddedRows } from '../../base/pass-rows.ts';
import type { Draft, Tree } from '../../model/interface.ts';
import type { ConstrainedText } from '../core/constrained-text.ts';
import type { Proposal } from './drafter.ts';
import { likeliestFirst } from './match-acceptance.ts';

interface KnownTree extends Tree {
  readonly tokens: readonly number[];
}

interface Text {
  readonly constraint: ConstrainedText;
  /** The answer so far, without the forced text. */
  readonly answer: readonly number[];
  /** What must come next: the draft follows it. */
  readonly forced: readonly number[];
  /** Levels after the anchor that the budget allows. */
  readonly most: number;
}

const isKnown = (tree: Draft['tree']): tree is KnownTree =>
  'tokens' in tree && tree.tokens.every((token) => typeof token === 'number');

/** The text that a node of the tree ends. */
const textOf = ({ tokens, parents }: KnownTree, node: number, answer: readonly number[]): readonly number[] => {
  const drafts: number[] = [];
  for (let at = node; at > 0; at = parents[at] as number) drafts.unshift(tokens[at] as number);
  return [...answer, ...drafts];
};

/** Of texts that must come, how many have ended in the expected token: what is assumed, and how it fades. */
const EXPECTED = { chance: 0.95, weight: 4, decay: 0.98 } as const;

/** Drafts the token that ends text which must come. The model decides on it, since what follows may join it. */
export class ExpectedToken {
  #kept = EXPECTED.chance * EXPECTED.weight;
  #tested: number = EXPECTED.weight;
  #token: number | null = null;

  /** The proposal with that token at the beginning: a branch becomes likelier, or is new. */
  join(proposal: Proposal | null, { constraint, answer, forced }: Omit<Text, 'most'>): Proposal | null {
    this.#token = constraint.expected([...answer, ...forced]);
    const { tree, chances } = proposal ?? { tree: { tokens: [0], parents: [-1] }, chances: [1] };
    if (this.#token === null || !chances || !isKnown(tree)) return proposal;
    const chance = this.#kept / this.#tested;
    const known = tree.parents.findIndex((parent, node) => parent === 0 && tree.tokens[node] === this.#token);
    const node = known < 0 ? chances.length : known;
    const all = {
      tokens: known < 0 ? [...tree.tokens, this.#token] : tree.tokens,
      parents: known < 0 ? [...tree.parents, 0] : tree.parents,
    };
    const before = known < 0 ? chance : (chances[known] as number);
    const branches: number[] = [];
    const joined = all.parents.map((parent, each) => {
      branches.push(parent > 0 ? (branches[parent] as number) : each);
      const own = chances[each] ?? chance;
      return each === 0 ? 1 : own * (branches[each] === node ? chance / before : 1 - chance);
    });
    return likeliestFirst(all, joined);
  }

  /** `next`: what was committed after the text that must come. */
  observe(next: number | undefined): void {
    if (this.#token === null) return;
    this.#kept = EXPECTED.decay * this.#kept + Number(next === this.#token);
    this.#tested = EXPECTED.decay * this.#tested + 1;
    this.#token = null;
  }
}

/**
 * The draft after the forced text, without what is forbidden. Null: nothing of it is left. A draft that the host does
 * not know stays as it is.
 */
export const allowedDraft = (
  proposal: Proposal,
  anchor: number,
  { constraint, answer, forced }: Omit<Text, 'most'>,
): Proposal | null => {
  const { tree } = proposal;
  if (!isKnown(tree)) return proposal;
  const tokens = [anchor, ...forced];
  const parents = tokens.map((_, i) => i - 1);
  const chances = tokens.map(() => 1);
  /** Where the nodes of the draft are now. */
  const places = new Map([[0, forced.length]]);
  for (const [node, token] of tree.tokens.entries()) {
    const parent = places.get(tree.parents[node] as number);
    if (node === 0 || parent === undefined || tokens.length === MOST_ROWS) continue;
    if (!constraint.allows(textOf({ tokens, parents }, parent, answer), token)) continue;
    parents.push(parent);
    chances.push(proposal.chances?.[node] as number);
    places.set(node, tokens.push(token) - 1);
  }
  if (places.size === 1) return null;
  const known = proposal.chances ? { chances } : {};
  return { ...proposal, ...known, tree: { tokens, parents }, nodes: tokens.length };
};

/** With the text that must follow its leaves, as far as that costs no row. */
export const forcedAfter = (proposal: Proposal, { constraint, answer, most }: Omit<Text, 'forced'>): Proposal => {
  const { tree } = proposal;
  if (!isKnown(tree)) return proposal;
  const [tokens, parents] = [[...tree.tokens], [...tree.parents]];
  const rows = paddedRows(tokens.length);
  for (const leaf of tree.tokens.keys()) {
    if (tree.parents.includes(leaf)) continue;
    const text = textOf(tree, leaf, answer);
    let end = leaf;
    for (const token of constraint.forced(text, Math.min(rows - tokens.length, most - (text.length - answer.length)))) {
      parents.push(end);
      end = tokens.push(token) - 1;
    }
  }
  return { ...proposal, tree: { tokens, parents }, nodes: tokens.length };
};
