import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { noise, runKernel, tensorOf } from '../../testing/device/run-kernel.ts';
import { packRows, ROW_WORDS } from '../cache/rows.ts';
import { packNodes } from '../verify/verdict.ts';
import { treeRowsReference } from './tree-rows.reference.ts';
import { packPlace, treeRows } from './tree-rows.ts';

const words = (array: Float32Array | undefined): Uint32Array => new Uint32Array(array?.buffer as ArrayBuffer);

for (const features of ['all', 'baseline'] as const)
  test(`tree-rows on ${features}: windows, forks, parts of a tree`, async () => {
    const gpu = await testGpu(features);
    const random = noise(5);
    for (const count of [1, 7, 16, 64])
      for (const [prefix, start, base] of [
        [62, 62, 62],
        [64, 64, 64],
        [64, 128, 150],
      ] as const)
        for (const window of [null, 4, 30, 70]) {
          const nodes = Array.from({ length: count }, (_, i) => ({
            token: i * 3,
            ringEntry: i % 3,
            parent: i === 0 ? -1 : Math.max(0, i - 1 - Math.floor(Math.abs(3 * random()))),
          }));
          for (let first = 0; first < count; first += 16) {
            const place = {
              first,
              count: Math.min(16, count - first),
              prefix,
              start,
              base,
              position: prefix + base - start,
              state: count % 3,
              window,
            };
            const rows = tensorOf(gpu, new Uint32Array(16 * ROW_WORDS).fill(99));
            const tensors = { place: tensorOf(gpu, packPlace(place)), nodes: tensorOf(gpu, packNodes(nodes)), rows };
            const [written] = await runKernel(gpu, [rows], (plan) => treeRows(plan, tensors, { rows: 16 }));
            expect(words(written), JSON.stringify(place)).toEqual(packRows(treeRowsReference(place, nodes), 16));
          }
        }
  });
