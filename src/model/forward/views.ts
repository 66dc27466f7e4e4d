// A pass as its cursor's owner sees it: rows counted from its own first one, positions known, and what may be done with
// it. Three kinds: a tree that the host knows, one that only the device knows, and the last row of a prompt.

import { refuse } from '../../base/refuse.ts';
import type { CachedCursor } from '../cache/cursor.ts';
import { depths } from '../cache/visibility.ts';
import type { Draft, Forward, Tree } from '../interface.ts';
import { MOST_DISTRIBUTIONS } from '../sampling/sampler.ts';
import type { TokenRing } from '../sampling/token-ring.ts';
import type { Pass } from './pass.ts';

const committed = (): never => {
  throw refuse('the rows of extend are committed already');
};

/** Of a tree whose shape the host does not know. */
const unknown = (): never => {
  throw refuse('the host does not know this tree before its verdict');
};

const rowIn = (row: number, rows: number): number => {
  if (!Number.isInteger(row) || row < 0 || row >= rows) throw refuse(`row ${row} of a pass of ${rows}`);
  return row;
};

/** What verification takes: one root, and where drafts were sampled, a chain with a distribution for each. */
const checkDraft = ({ tokens, parents }: Tree, distributions: Draft['distributions']): void => {
  if (parents.some((parent, i) => (i === 0) !== (parent === -1)))
    throw refuse('a draft has one root, the last committed token');
  if (!distributions) return;
  if (distributions.length !== tokens.length - 1)
    throw refuse(`${distributions.length} distributions for ${tokens.length - 1} drafts`);
  if (distributions.length >= MOST_DISTRIBUTIONS)
    throw refuse(`${distributions.length} sampled drafts; the most is ${MOST_DISTRIBUTIONS - 1}`);
  if (parents.some((parent, i) => parent !== i - 1)) throw refuse('sampled drafts that are not a chain');
};

interface TreeSeen {
  readonly tree: Tree;
  /** Row of node 0. */
  readonly first: number;
  /** As `CachedCursor.begin` numbered the pass. */
  readonly version: number;
  readonly name: TokenRing['name'];
}

/** A pass over a tree, as its cursor sees it. */
export const treeView = (pass: Pass, cursor: CachedCursor, { tree, first, version, name }: TreeSeen): Forward => {
  const rows = tree.tokens.length;
  const depth = depths(tree.parents);
  const { length } = cursor;
  return {
    rows,
    logits: pass.logits(first, rows),
    taps: pass.taps(first, rows),
    draw: (row, sampling, options) =>
      pass.draw(first + rowIn(row, rows), sampling, length + (depth[row] as number) + 1, options?.distribution),
    top: (of, n) =>
      pass.top(
        of.map((row) => first + rowIn(row, rows)),
        n,
      ),
    accept: (path) => cursor.accept(version, tree, path),
    verify: async (distributions, sampling) => {
      checkDraft(tree, distributions);
      const nodes = tree.tokens.map((token, i) => ({
        ...name(token),
        parent: tree.parents[i] as number,
        position: length + (depth[i] as number),
      }));
      const draft = { first, base: cursor.next, position: length, count: rows, nodes, sampling, distributions };
      return cursor.settle(version, () => pass.verify(draft, cursor.cache));
    },
  };
};

interface DeviceTreeSeen {
  readonly count: number;
  readonly version: number;
  /** Position and slot of node 0. */
  readonly position: number;
  readonly base: number;
}

/** A pass over a tree whose shape the host learns from the verdict. */
export const deviceTreeView = (
  pass: Pass,
  cursor: CachedCursor,
  { count, version, ...place }: DeviceTreeSeen,
): Forward => ({
  rows: count,
  logits: pass.logits(0, count),
  taps: pass.taps(0, count),
  draw: unknown,
  top: (of, n) =>
    pass.top(
      of.map((row) => rowIn(row, count)),
      n,
    ),
  accept: unknown,
  verify: async (distributions, sampling) => {
    if (distributions) throw refuse('sampled drafts that are not a chain');
    const draft = { first: 0, ...place, count, nodes: null, sampling, distributions };
    return cursor.settle(version, () => pass.verify(draft, cursor.cache));
  },
});

/** The one row of `extend`: its logits are row 0 of the pass, its taps row `tap`; it is drawn at `position`. */
export const lastView = (pass: Pass, tap: number, position: number): Forward => ({
  rows: 1,
  logits: pass.logits(0, 1),
  taps: pass.taps(tap, 1),
  draw: (row, sampling, options) => pass.draw(rowIn(row, 1), sampling, position, options?.distribution),
  top: (of, n) =>
    pass.top(
      of.map((row) => rowIn(row, 1)),
      n,
    ),
  accept: committed,
  verify: async () => committed(),
});
