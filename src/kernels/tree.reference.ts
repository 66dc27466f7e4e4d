// A tree of drafts grown on plain arrays, and the rows of a pass over one.
import type { Row } from './rows.ts';
import type { TreePlace } from './tree.ts';

export interface GrownTree {
  /** Node 0 is the anchor. */
  readonly tokens: readonly number[];
  readonly parents: readonly number[];
  /** Log-probabilities added along the path. */
  readonly scores: readonly number[];
}

interface Candidate {
  readonly path: readonly number[];
  readonly parent: number;
  readonly score: number;
}

/** `logprobs(path)`: of every token behind the anchor and these drafts. */
export const treeReference = (
  anchor: number,
  { width, levels, nodes }: { readonly width: number; readonly levels: number; readonly nodes: number },
  logprobs: (path: readonly number[]) => readonly number[],
): GrownTree => {
  const best = (scored: readonly { score: number; index: number }[], count: number) =>
    scored.toSorted((a, b) => b.score - a.score || a.index - b.index).slice(0, count);
  const all: Candidate[] = [];
  let beam: readonly number[] = [-1];
  for (let level = 1; level <= levels; level++) {
    const first = all.length;
    for (const parent of beam) {
      const { path, score } = all[parent] ?? { path: [], score: 0 };
      const row = logprobs(path).map((logprob, index) => ({ score: logprob, index }));
      for (const { score: own, index } of best(row, width))
        all.push({ path: [...path, index], parent, score: score + own });
    }
    const made = all.slice(first).map(({ score }, i) => ({ score, index: first + i }));
    beam = best(made, width).map(({ index }) => index);
  }
  const every = all.map(({ score }, index) => ({ score, index }));
  const kept = best(every, nodes - 1)
    .map(({ index }) => index)
    .sort((a, b) => a - b);
  const candidates = kept.map((index) => all[index] as Candidate);
  return {
    tokens: [anchor, ...candidates.map(({ path }) => path.at(-1) as number)],
    parents: [-1, ...candidates.map(({ parent }) => kept.indexOf(parent) + 1)],
    scores: [0, ...candidates.map(({ score }) => score)],
  };
};

/** Rows of nodes [first, first + count) of a tree. */
export const treeRowsReference = (
  { first, count, prefix, start, base, position, window }: TreePlace,
  nodes: readonly { readonly token: number; readonly held: number; readonly parent: number }[],
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
      held: nodes[first + i]?.held as number,
      position: at,
      slot: base + first + i,
      prefix,
      first: Math.min(lowest, prefix),
      start: start + Math.min(Math.max(0, lowest - prefix), base - start),
      end: base,
      base,
      maskLow: Number(mask & 0xffff_ffffn),
      maskHigh: Number(mask >> 32n),
      alive: 1,
      // The first node on the path that a causal run would have past the edge of the chunk of `base`.
      cut: base + (own[64 - (base % 64)] ?? 64),
    };
  });
};
