import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { spreadLogitsReference } from './spread-logits.reference.ts';
import { NOT_THERE, spreadLogits } from './spread-logits.ts';

for (const features of ['all', 'baseline'] as const)
  test(`spread-logits on ${features}`, async () => {
    const gpu = await testGpu(features);
    for (const [vocabulary, ids] of [
      [1, [0]],
      [33, [32, 0, 7]],
      [331, Array.from({ length: 100 }, (_, i) => i * 3)],
    ] as const) {
      const random = noise(vocabulary);
      const rows = Array.from({ length: 4 }, () => Array.from(ids, random));
      const index = new Uint32Array(vocabulary).fill(NOT_THERE);
      for (const [i, id] of ids.entries()) index[id] = i;
      const stride = stride32(vocabulary);
      const logits = gpu.activation(4, stride, 'logits');
      const partStride = stride32(ids.length);
      const part = tensorOf(gpu, strided(rows, partStride));
      const tensors = { part, index: tensorOf(gpu, index), logits };
      const [values] = await runKernel(gpu, [logits], (plan) => {
        spreadLogits(plan, tensors, { first: 0, rows: 1, vocabulary, partStride, stride });
        spreadLogits(plan, tensors, { first: 1, rows: 3, vocabulary, partStride, stride });
      });
      expect(values).toEqual(
        strided(
          rows.map((row) => spreadLogitsReference(row, ids, vocabulary)),
          stride,
        ),
      );
    }
  });
