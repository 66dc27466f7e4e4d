// Which cache slots each row of a pass sees, in the numbers that the attention kernels read (kernels/cache/rows.ts). A
// cursor's past is a shared prefix and its own rows; the nodes of a tree see that past and their ancestors.
import { CHUNK } from '../../kernels/attention/attention-shape.ts';
import type { Row } from '../../kernels/cache/rows.ts';
import { MOST_NODES } from '../limits.ts';
import type { NamedToken } from '../sampling/token-ring.ts';

/** Where a cursor's committed rows lie. */
export interface Past {
  /** Slots [0, prefix): the whole past of a root cursor, the shared past of a fork. */
  readonly prefix: number;
  /** A fork's own rows: slots [start, start + own). The next node goes to slot start + own. */
  readonly start: number;
  readonly own: number;
  /** Of a model with recurrent layers: which of the cache's states is this sequence's. A root cursor's is 0. */
  readonly state?: number;
}

export const lengthOf = ({ prefix, own }: Past): number => prefix + own;

/** The slots of committed rows [first, first + count): a run in the shared past, and one of the cursor's own. */
export const slotsOf = ({ prefix, start }: Past, first: number, count: number) => {
  const shared = Math.min(count, Math.max(0, prefix - first));
  const own = Math.max(first, prefix) - prefix;
  return [
    { first, count: shared },
    { first: start + own, count: count - shared },
  ] as const;
};

interface TreeNode {
  readonly parent: TreeNode | null;
  /** A root's is 0. */
  readonly depth: number;
  /** Itself and its ancestors, as bits. */
  readonly low: number;
  readonly high: number;
  /** Its first ancestor, itself included, that a causal pass would have in the chunk after that of the tree's base. */
  readonly crossing: number | null;
}

/** The deepest ancestor that lies above a depth. */
const ancestorAbove = (node: TreeNode, depth: number): TreeNode | null => {
  let seen: TreeNode | null = node;
  while (seen && seen.depth >= depth) seen = seen.parent;
  return seen;
};

/** The rows of nodes [first, first + count). A window of w positions hides what lies w or more before a row. */
export const treeRows = (
  past: Past,
  { tokens, parents }: { readonly tokens: readonly NamedToken[]; readonly parents: readonly number[] },
  window: number | null,
  first: number,
  count: number,
  sources?: number,
): Row[] => {
  const length = lengthOf(past);
  const base = past.start + past.own;
  const edge = (Math.floor(base / CHUNK) + 1) * CHUNK - base;
  const nodes: TreeNode[] = [];
  const rows: Row[] = [];
  for (let node = 0; node < first + count; node++) {
    const parent = nodes[parents[node] as number] ?? null;
    const depth = parent ? parent.depth + 1 : 0;
    const own: TreeNode = {
      parent,
      depth,
      low: (parent?.low ?? 0) | (node < 32 ? 1 << node : 0),
      high: (parent?.high ?? 0) | (node < 32 ? 0 : 1 << (node - 32)),
      crossing: depth === edge ? node : (parent?.crossing ?? null),
    };
    nodes.push(own);
    if (node < first) continue;
    const position = length + depth;
    const lowest = window === null ? 0 : Math.max(0, position - window + 1);
    const hidden = lowest > length ? ancestorAbove(own, lowest - length) : null;
    const { token, ringEntry } = tokens[node] as NamedToken;
    rows.push({
      token,
      ringEntry,
      position,
      slot: base + node,
      prefix: past.prefix,
      first: Math.min(lowest, past.prefix),
      start: past.start + Math.min(Math.max(0, lowest - past.prefix), past.own),
      end: base,
      base,
      maskLow: (own.low & ~(hidden?.low ?? 0)) >>> 0,
      maskHigh: (own.high & ~(hidden?.high ?? 0)) >>> 0,
      // Below it, slots add up their keys with the chunk of the base, so the sums have the order of a causal pass.
      chunkBoundary: base + (own.crossing ?? MOST_NODES),
      sources,
      state: past.state,
      alive: 1,
    });
  }
  return rows;
};
