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

/**
 * The first slot whose keys this row adds up with the next chunk: that of its first ancestor, itself included, that a
 * causal pass would have in the next chunk. So the row's sums have the order of a causal pass.
 */
const chunkBoundaryOf = (path: readonly number[], base: number): number => {
  const edge = (Math.floor(base / CHUNK) + 1) * CHUNK;
  const crossing = path[edge - base];
  return base + (crossing ?? MOST_NODES);
};

/** From a root to a node. */
const pathTo = (parents: readonly number[], node: number): number[] => {
  const path: number[] = [];
  for (let seen = node; seen >= 0; seen = parents[seen] as number) path.push(seen);
  return path.reverse();
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
  const rows: Row[] = [];
  for (let node = first; node < first + count; node++) {
    const path = pathTo(parents, node);
    const position = length + path.length - 1;
    const lowest = window === null ? 0 : Math.max(0, position - window + 1);
    let low = 0;
    let high = 0;
    for (const seen of path.slice(Math.max(0, lowest - length))) {
      if (seen < 32) low |= 1 << seen;
      else high |= 1 << (seen - 32);
    }
    rows.push({
      ...(tokens[node] as NamedToken),
      position,
      slot: base + node,
      prefix: past.prefix,
      first: Math.min(lowest, past.prefix),
      start: past.start + Math.min(Math.max(0, lowest - past.prefix), past.own),
      end: base,
      base,
      maskLow: low >>> 0,
      maskHigh: high >>> 0,
      chunkBoundary: chunkBoundaryOf(path, base),
      sources,
      state: past.state,
      alive: 1,
    });
  }
  return rows;
};
