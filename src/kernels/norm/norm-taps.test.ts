import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { normTapsReference } from './norm-taps.reference.ts';
import { normTaps, normTapsTuning } from './norm-taps.ts';

for (const features of ['all', 'baseline'] as const)
  test(`norm-taps on ${features}`, async () => {
    const gpu = await testGpu(features);
    for (const [width, taps, rows, first, normed] of [
      [1, 3, 1, 0, 3],
      [31, 2, 16, 1, 1],
      [33, 5, 3, 0, 5],
      [64, 1, 8, 0, 1],
      [96, 4, 2, 3, 1],
    ] as const) {
      const random = noise(width);
      const vector = () => Array.from({ length: width }, random);
      const all = Array.from({ length: rows }, () => Array.from({ length: taps }, vector));
      const weights = Array.from({ length: normed }, vector);
      const stride = stride32(taps * width);
      const output = gpu.activation(rows, stride, 'output');
      const input = tensorOf(
        gpu,
        strided(
          all.map((row) => row.flat()),
          stride,
        ),
      );
      const weight = tensorOf(gpu, Float32Array.from(weights.flat()));
      const [values] = await runKernel(gpu, [output], (plan) =>
        normTaps(
          plan,
          { input, weight, output },
          { rows, taps, width, first, normed, epsilon: 1e-5 },
          normTapsTuning(gpu),
        ),
      );
      const expected = all.map((row) => normTapsReference(row, weights, first, 1e-5));
      expect(deviation(values as Float32Array, strided(expected, stride)), `${taps} of ${width}`).toBeLessThan(2e-6);
    }
  });
