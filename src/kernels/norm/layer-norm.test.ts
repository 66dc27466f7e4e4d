import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { layerNormReference } from './layer-norm.reference.ts';
import { layerNorm } from './layer-norm.ts';

for (const features of ['all', 'baseline'] as const)
  for (const threads of [1, 256])
    test(`layer-norm on ${features}, ${threads} lanes a row`, async () => {
      const gpu = await testGpu(features);
      for (const width of [1, 31, 33, 64, 576])
        for (const biased of [0, 1] as const) {
          const random = noise(width);
          // The mean exceeds the deviation: squares of the values themselves would not do.
          const rows = Array.from({ length: 16 }, () => Array.from({ length: width }, () => 30 + random()));
          const [weights, biases] = [0, 1].map(() => Array.from({ length: width }, random)) as [number[], number[]];
          const stride = stride32(width);
          const input = tensorOf(gpu, strided(rows, stride));
          const weight = tensorOf(gpu, Float32Array.from([...weights, ...(biased ? biases : [])]));
          const all: Float32Array[] = [];
          for (const M of [1, 2, 4, 8, 12, 16]) {
            const output = gpu.activation(16, stride, 'output');
            const [values] = await runKernel(gpu, [output], (plan) =>
              layerNorm(plan, { input, weight, output }, { rows: M, width, epsilon: 1e-5 }, { threads, biased }),
            );
            all.push((values as Float32Array).subarray(0, M * stride));
          }
          const last = all.at(-1) as Float32Array;
          const single = rows.map((row) => row.map(Math.fround));
          const expected = single.map((row) => layerNormReference(row, weights, biased ? biases : null, 1e-5));
          expect(deviation(last, strided(expected, stride)), `width ${width}`).toBeLessThan(2e-5);
          for (const values of all) expect(values, `width ${width}`).toEqual(last.subarray(0, values.length));
        }
    });
