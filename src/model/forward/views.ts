// A pass as the owner of its cursor sees it: rows are counted from the cursor's first one, and positions are known. One
// view is of a tree that the host knows, the other of a tree that only the device knows.

import { refuse } from '../../base/refuse.ts';
import type { CachedCursor, CursorPass } from '../cache/cursor.ts';
import { checkDraft, depths, rowIn } from '../check-tree.ts';
import { limitTensor } from '../drafters/device-limit.ts';
import type { Tree } from '../interface.ts';
import type { TokenRing } from '../sampling/token-ring.ts';
import type { PassDescription } from './executor.ts';
import type { Pass } from './pass.ts';

const committed = (): never => {
  throw refuse('the rows of extend are committed already');
};

/** Of a tree whose shape the host does not know. */
const unknown = (): never => {
  throw refuse('the host does not know this tree before its verdict');
};

interface TreeSeen {
  readonly tree: Tree;
  /** Row of node 0. */
  readonly first: number;
  /** Of which rows there are logits. */
  readonly logits: PassDescription['logits'];
  /** As `CachedCursor.begin` numbered the pass. */
  readonly version: number;
  readonly name: TokenRing['name'];
}

/** A pass over a tree. */
export const treeView = (
  pass: Pass,
  cursor: CachedCursor,
  { tree, first, logits, version, name }: TreeSeen,
): CursorPass => {
  const rows = tree.tokens.length;
  const depth = depths(tree.parents);
  const { length } = cursor;
  /** Where the logits of a row are. */
  const scored = (row: number): number => {
    if (logits === 'all') return first + rowIn(row, rows);
    if (logits === 'last' && rowIn(row, rows) === rows - 1) return 0;
    throw refuse(`row ${row} of a pass that did not score it`);
  };
  return {
    rows,
    logits: logits === 'all' ? pass.logits(first, rows) : pass.logits(0, logits === 'last' ? 1 : 0),
    taps: pass.taps(first, rows),
    draw: (row, sampling, options) =>
      pass.draw(scored(row), sampling, length + (depth[row] as number) + 1, options?.distribution),
    drawAllowed: (row, sampling, allowed) =>
      pass.drawAllowed(scored(row), sampling, length + (depth[row] as number) + 1, allowed),
    top: (of, n) => pass.top(of.map(scored), n),
    accept: (path) => cursor.accept(version, tree, path),
    verify: async (distributions, sampling) => {
      checkDraft(tree, distributions);
      const nodes = tree.tokens.map((token, i) => ({
        ...name(token),
        parent: tree.parents[i] as number,
        position: length + (depth[i] as number),
      }));
      const limit = tree.limit ? limitTensor(tree.limit) : null;
      const draft = { first, base: cursor.next, position: length, count: rows, nodes, sampling, distributions, limit };
      return cursor.keepVerdict(version, () => pass.verify(draft, cursor.cache));
    },
    lastRow: () => {
      const row = scored(rows - 1);
      const position = length + (depth[rows - 1] as number) + 1;
      return {
        rows: 1,
        logits: pass.logits(row, 1),
        taps: pass.taps(first + rows - 1, 1),
        draw: (at, sampling, options) => pass.draw(row + rowIn(at, 1), sampling, position, options?.distribution),
        drawAllowed: (at, sampling, allowed) => pass.drawAllowed(row + rowIn(at, 1), sampling, position, allowed),
        top: (of, n) =>
          pass.top(
            of.map((at) => row + rowIn(at, 1)),
            n,
          ),
        accept: committed,
        verify: async () => committed(),
      };
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
): CursorPass => {
  /** Of each node, once the verdict has told the tree's shape. */
  let depth: readonly number[] | null = null;
  return {
    rows: count,
    logits: pass.logits(0, count),
    taps: pass.taps(0, count),
    draw: unknown,
    drawAllowed: (row, sampling, allowed) => {
      const position = place.position + (depth?.[rowIn(row, count)] ?? unknown()) + 1;
      return pass.drawAllowed(row, sampling, position, allowed);
    },
    top: (of, n) =>
      pass.top(
        of.map((row) => rowIn(row, count)),
        n,
      ),
    accept: unknown,
    verify: async (distributions, sampling) => {
      if (distributions) throw refuse('sampled drafts that are not a chain');
      const draft = { first: 0, ...place, count, nodes: null, sampling, distributions, limit: null };
      const verdict = await cursor.keepVerdict(version, () => pass.verify(draft, cursor.cache));
      depth = depths(verdict.parents);
      return verdict;
    },
    lastRow: unknown,
  };
};
