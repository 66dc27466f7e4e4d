import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { runKernel, tensorOf } from '../../testing/device/run-kernel.ts';
import { DRAW_WORDS, packDraws } from '../sampling/sample.ts';
import { packNodes } from '../verify/verdict.ts';
import { treeDrawsReference } from './tree-draws.reference.ts';
import { treeDraws } from './tree-draws.ts';
import { packPlace } from './tree-rows.ts';

for (const features of ['all', 'baseline'] as const)
  test(`tree-draws on ${features}`, async () => {
    const gpu = await testGpu(features);
    for (const parents of [[-1], [-1, 0, 0, 1, 3, 2], Array.from({ length: 64 }, (_, i) => Math.floor((i - 1) / 2))]) {
      const draw = { temperature: 1, topK: 3, topP: 0.5, minP: 0.1, seed: 4, position: 0 };
      const packed = packDraws(parents.map((_, i) => ({ ...draw, row: i, entry: 64 + i })));
      const draws = tensorOf(gpu, packed);
      const nodes = tensorOf(gpu, packNodes(parents.map((parent) => ({ token: 1, ringEntry: 0, parent }))));
      const at = { first: 0, count: 1, prefix: 0, start: 0, base: 0, state: 0, window: null };
      const place = tensorOf(gpu, packPlace({ ...at, position: 100 }));
      const [values] = await runKernel(gpu, [draws], (plan) =>
        treeDraws(plan, { place, nodes, draws }, { nodes: parents.length }),
      );
      const after = new Uint32Array(values?.buffer as ArrayBuffer);
      const expected = packed.slice();
      for (const [i, position] of treeDrawsReference(parents, 100).entries()) expected[i * DRAW_WORDS + 6] = position;
      expect(after.slice(0, expected.length)).toEqual(expected);
    }
  });
