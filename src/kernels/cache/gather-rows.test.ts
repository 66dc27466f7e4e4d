import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { gatherRowsReference } from './gather-rows.reference.ts';
import { gatherRows } from './gather-rows.ts';

for (const features of ['all', 'baseline'] as const)
  test(`gather-rows on ${features}`, async () => {
    const gpu = await testGpu(features);
    for (const width of [1, 31, 33, 64, 300]) {
      const random = noise(width);
      const rows = Array.from({ length: 16 }, () => Array.from({ length: width }, random));
      const stride = stride32(width);
      const input = tensorOf(gpu, strided(rows, stride));
      for (const indices of [[15], [3, 3], [7, 0, 15, 2, 9]]) {
        const output = gpu.activation(indices.length, stride, 'output');
        const [values] = await runKernel(gpu, [output], (plan) =>
          gatherRows(
            plan,
            { input, indices: tensorOf(gpu, Uint32Array.from(indices)), output },
            { rows: indices.length, width },
          ),
        );
        expect(values).toEqual(strided(gatherRowsReference(rows, indices), stride));
      }
    }
  });
