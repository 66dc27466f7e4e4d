// CPU reference of grow-tree.ts.

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

/** `logprobs(path)`: of every token after the anchor and these drafts. */
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
