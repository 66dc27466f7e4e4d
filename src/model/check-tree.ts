// What may be asked of a cursor. The device's cursors and the toy models of the tests call the same checks, so that a
// mistake in a decoding system has the same error text in a millisecond's test and on a GPU.
import type { OutriderError } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import type { Draft, Token, Tree } from './interface.ts';
import { MOST_DISTRIBUTIONS } from './limits.ts';

/** A causal chain: each token is the child of the one before. */
export const chain = (tokens: readonly Token[]): Tree => ({ tokens, parents: tokens.map((_, i) => i - 1) });

/** The depth of every node; a root has 0. */
export const depths = (parents: readonly number[]): number[] => {
  const out: number[] = [];
  for (const parent of parents) out.push(parent < 0 ? 0 : (out[parent] as number) + 1);
  return out;
};

export const isChain = (parents: readonly number[]): boolean => parents.every((parent, i) => parent === i - 1);

/** What a cursor knows when it is given a tree. */
export interface TreeBounds {
  readonly vocabulary: number;
  /** Nodes of the largest tree. */
  readonly nodes: number;
  /** Committed rows, and rows that the cursor can hold. */
  readonly length: number;
  readonly capacity: number;
  /** Rows of the prompt that must be committed first. */
  readonly prompt: number;
  /** The last committed token, which has no row yet; null where the cursor does not know it. */
  readonly anchor: number | null;
  /** A cursor with `rollout`. */
  readonly chainsOnly: boolean;
}

export const checkTokens = (tokens: readonly Token[], vocabulary: number): void => {
  for (const token of tokens)
    if (typeof token === 'number' && (!Number.isInteger(token) || token < 0 || token >= vocabulary))
      throw refuse(`token ${token} is outside the vocabulary of ${vocabulary}`);
};

/** `positions`: how many the deepest new row needs. */
export const checkRoom = ({ length, capacity }: Pick<TreeBounds, 'length' | 'capacity'>, positions: number): void => {
  if (length + positions > capacity)
    throw refuse(
      `${length} rows and ${positions} more exceed the ${capacity} that this cursor can hold`,
      'Shorten the prompt or open a longer context.',
    );
};

/** A forgotten prefill. */
export const checkPrompt = ({ length, prompt }: Pick<TreeBounds, 'length' | 'prompt'>): void => {
  if (length < prompt)
    throw refuse(
      `a tree was scored with ${length} rows in the cache, before the ${prompt} rows of the prompt were read`,
      'Read the prompt with `extend` first; its last token may stay, as node 0 of the first tree.',
    );
};

export const tooManyRows = (rows: number, most: number): OutriderError =>
  refuse(`${rows} rows in one pass; here the most is ${most}`, 'See OpenCursor.nodes.');

export const notChain = (): OutriderError => refuse('a cursor opened with `rollout` scores chains only');

/** A tree that a pass is to score. */
export const checkTree = ({ tokens, parents }: Tree, bounds: TreeBounds): void => {
  const { vocabulary, nodes, anchor, chainsOnly } = bounds;
  if (tokens.length === 0) throw refuse('a tree without nodes', 'Node 0 is the last committed token.');
  if (parents.length !== tokens.length)
    throw refuse(`${tokens.length} tokens but ${parents.length} parents`, 'Name the parent of every node.');
  if (tokens.length > nodes) throw tooManyRows(tokens.length, nodes);
  for (const [i, parent] of parents.entries())
    if (!Number.isInteger(parent) || parent < -1 || parent >= i)
      throw refuse(`node ${i} names ${parent} as its parent; an earlier node or -1 is allowed`);
  if (chainsOnly && !isChain(parents)) throw notChain();
  checkTokens(tokens, vocabulary);
  checkPrompt(bounds);
  const oneRoot = parents.filter((parent) => parent === -1).length === 1;
  if (oneRoot && anchor !== null && typeof tokens[0] === 'number' && tokens[0] !== anchor)
    throw refuse(
      `node 0 is token ${tokens[0]}; the last committed token is ${anchor}`,
      'Node 0 of a draft is the last committed token; the drafts are its descendants.',
    );
  checkRoom(bounds, Math.max(...depths(parents)) + 1);
};

/** What verification takes: one root, and where drafts were sampled, a chain with a distribution for each. */
export const checkDraft = ({ tokens, parents }: Tree, distributions: Draft['distributions']): void => {
  if (parents.some((parent, i) => (i === 0) !== (parent === -1)))
    throw refuse('a draft has one root, the last committed token', 'It is node 0, and every draft descends from it.');
  if (!distributions) return;
  if (distributions.length !== tokens.length - 1)
    throw refuse(`${distributions.length} distributions for ${tokens.length - 1} drafts`);
  if (distributions.length >= MOST_DISTRIBUTIONS)
    throw refuse(`${distributions.length} sampled drafts; the most is ${MOST_DISTRIBUTIONS - 1}`);
  if (!isChain(parents)) throw refuse('sampled drafts that are not a chain');
};

/** The nodes that a pass is to keep. */
export const checkPath = ({ parents }: Pick<Tree, 'parents'>, path: readonly number[]): void => {
  path.forEach((node, i) => {
    const parent = parents[node];
    if (parent === undefined || parent !== (i === 0 ? -1 : path[i - 1]))
      throw refuse(`[${path.join(', ')}] is not a path from a root`);
  });
};

/** A pass that was accepted before, or that a later pass of its cursor has replaced. */
export const movedOn = (): OutriderError => refuse('this pass cannot be accepted: the cursor has moved on since');

export const rowIn = (row: number, rows: number): number => {
  if (!Number.isInteger(row) || row < 0 || row >= rows) throw refuse(`row ${row} of a pass of ${rows}`);
  return row;
};
