// A draft whose tokens the host knows, under a constraint: nodes that the constraint forbids are left out, and text that must
// come is added where it costs no more than a row: before the draft, and after its leaves.
import type { Draft, Tree } from '../../model/interface.ts';
import type { ConstrainedText } from '../core/constrained-text.ts';

/** Rows of one pass. */
const MOST_ROWS = 16;

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

/** Null: nothing of the draft is left. A draft that the host does not know stays as it is. */
export const constrainedDraft = (
  tree: Draft['tree'],
  anchor: number,
  { constraint, answer, forced, most }: Text,
): Draft['tree'] | null => {
  if (!isKnown(tree)) return tree;
  const tokens = [anchor, ...forced];
  const parents = tokens.map((_, i) => i - 1);
  /** The text that each node ends. */
  const texts = tokens.map((_, i) => [...answer, ...forced.slice(0, i)]);
  /** Where the nodes of the draft are now. */
  const places = new Map([[0, forced.length]]);
  const add = (parent: number, token: number): number => {
    parents.push(parent);
    texts.push([...(texts[parent] as number[]), token]);
    return tokens.push(token) - 1;
  };
  const drafts: readonly number[] = tree.tokens;
  for (const [node, token] of drafts.entries()) {
    const parent = places.get(tree.parents[node] as number);
    if (node === 0 || parent === undefined || tokens.length === MOST_ROWS) continue;
    if (constraint.allows(texts[parent] as number[], token)) places.set(node, add(parent, token));
  }
  if (places.size === 1) return null;
  const leaves = [...places.values()].filter((place) => !parents.includes(place));
  for (const leaf of leaves) {
    const text = texts[leaf] as number[];
    const room = Math.min(MOST_ROWS - tokens.length, most - (text.length - answer.length));
    let end = leaf;
    for (const token of constraint.forced(text, room)) end = add(end, token);
  }
  return { tokens, parents };
};
