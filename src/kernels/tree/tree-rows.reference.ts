import type { Row } from '../cache/rows.ts';
import type { TreePlace } from './tree-rows.ts';

/** Rows of nodes [first, first + count) of a tree. */
export const treeRowsReference = (
  { first, count, prefix, start, base, position, state, window }: TreePlace,
  nodes: readonly { readonly token: number; readonly ringEntry: number; readonly parent: number }[],
): Row[] => {
  const path = (node: number): number[] => (node < 0 ? [] : [...path(nodes[node]?.parent ?? -1), node]);
  return Array.from({ length: count }, (_, i) => {
    const own = path(first + i);
    const at = position + own.length - 1;
    const lowest = window === null ? 0 : Math.max(0, at - window + 1);
    const bits = own.filter((_, depth) => position + depth >= lowest).map((node) => 1n << BigInt(node));
    const mask = bits.reduce((a, b) => a | b, 0n);
    return {
      token: nodes[first + i]?.token as number,
      ringEntry: nodes[first + i]?.ringEntry as number,
      position: at,
      slot: base + first + i,
      prefix,
      first: Math.min(lowest, prefix),
      start: start + Math.min(Math.max(0, lowest - prefix), base - start),
      end: base,
      base,
      maskLow: Number(mask & 0xffff_ffffn),
      maskHigh: Number(mask >> 32n),
      state,
      alive: 1,
      // The first node on the path that a causal run would have past the edge of the chunk of `base`.
      chunkBoundary: base + (own[64 - (base % 64)] ?? 64),
    };
  });
};
