import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { grow, logSoftmax, pathLogits } from '../../testing/toys/grow.ts';
import { treeReference } from './grow-tree.reference.ts';
import type { TreeTask } from './grow-tree.ts';

const task: TreeTask = {
  width: 3,
  levels: 4,
  nodes: 11,
  token: 5,
  ringEntry: 0,
  base: 100,
  position: 90,
  scored: 0,
  feature: 2,
  window: 0,
};

for (const [features, threads] of [
  ['all', 256],
  ['baseline', 8],
] as const)
  test(`a tree grown on ${features} equals the CPU reference`, async () => {
    const gpu = await testGpu(features);
    const cases: [vocabulary: number, shape: TreeTask][] = [
      [128, task],
      [128, { ...task, width: 1, levels: 6, nodes: 7, scored: 3, ringEntry: 4 }],
      [33, { ...task, width: 8, levels: 1, nodes: 9 }],
      [300, { ...task, width: 10, levels: 7, nodes: 60, feature: 15 }],
      [1000, { ...task, width: 16, levels: 5, nodes: 64 }],
      [16, { ...task, width: 16, levels: 2, nodes: 64 }],
      [128, { ...task, window: 60 }],
      [128, { ...task, window: 200 }],
      [300, { ...task, width: 10, levels: 7, nodes: 60, window: 2 }],
    ];
    for (const [vocabulary, shape] of cases) {
      const ids = Array.from({ length: vocabulary }, (_, i) => 2 * i + 1);
      const logits = pathLogits(vocabulary);
      const reference = treeReference(5, shape, (path) => logSoftmax(logits(path)));
      const grown = await grow(gpu, shape, ids, logits, threads);
      const name = JSON.stringify(shape);
      expect(grown.tokens, name).toEqual([5, ...reference.tokens.slice(1).map((token) => ids[token])]);
      expect(grown.parents, name).toEqual(reference.parents);
      expect(grown.flags, name).toEqual(reference.tokens.map(() => 0));
      grown.scores.forEach((score, i) => {
        expect(score, name).toBeCloseTo(reference.scores[i] as number, 4);
        const before = reference.scores[reference.parents[i] as number] ?? 0;
        expect(grown.logprobs[i], name).toBeCloseTo((reference.scores[i] as number) - before, 4);
      });
    }
  }, 120_000);

test('a NaN in a drafter’s logits is reported in the nodes', async () => {
  const gpu = await testGpu();
  const ids = Array.from({ length: 40 }, (_, i) => i);
  const grown = await grow(
    gpu,
    { ...task, levels: 1, nodes: 4 },
    ids,
    () => ids.map((i) => (i === 9 ? Number.NaN : i)),
    8,
  );
  expect(grown.flags).toEqual([0, 1, 1, 1]);
});

describe.skipIf(noShared)('against the reference drafter', () => {
  test.each(['eagle3-tiny', 'eagle3-tiny-good'])('%s: order, parents and log-probabilities', async (name) => {
    const gpu = await testGpu();
    const { tree_draft: golden } = JSON.parse(readFileSync(shared('golden', name, 'case.json'), 'utf8')) as {
      tree_draft: { width: number; levels: number; tokens: number[]; parents: number[]; cumulative_logprob: number[] };
    };
    const { width, levels, tokens, parents, cumulative_logprob: scores } = golden;
    const path = (node: number): number[] =>
      node === 0 ? [] : [...path(parents[node] as number), tokens[node] as number];
    const paths = tokens.map((_, node) => path(node).join());
    // The file has the log-probabilities of the nodes that were kept; what was not is less probable than any of them.
    const logits = (path: readonly number[]): number[] => {
      const parent = paths.indexOf(path.join());
      const row = Array.from({ length: 331 }, (_, token) => -20 - token / 100);
      parents.forEach((own, node) => {
        if (own === parent && node > 0)
          row[tokens[node] as number] = (scores[node] as number) - (scores[own] as number);
      });
      // The rest of the mass goes to tokens that are nowhere near the best.
      const rest = 1 - row.reduce((sum, x) => sum + Math.exp(x), 0);
      return row.concat(Array.from({ length: 4000 }, () => Math.log(Math.max(rest, 1e-9) / 4000)));
    };
    const ids = Array.from({ length: 4331 }, (_, i) => i);
    const shape = { ...task, width, levels, nodes: tokens.length, token: tokens[0] as number };
    const grown = await grow(gpu, shape, ids, logits, 256);
    expect({ tokens: grown.tokens, parents: grown.parents }).toEqual({ tokens, parents });
    grown.scores.forEach((score, i) => {
      expect(score).toBeCloseTo(scores[i] as number, 3);
    });
  });
});
