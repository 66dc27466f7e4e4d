import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { pairNormReference } from './pair-norm.reference.ts';
import { pairNorm } from './pair-norm.ts';

for (const features of ['all', 'baseline'] as const)
  for (const tuning of [{ threads: 1 }, { threads: 256 }])
    test(`pair-norm on ${features}, ${tuning.threads} lanes a row`, async () => {
      const gpu = await testGpu(features);
      for (const width of [1, 31, 33, 64, 192]) {
        const random = noise(width);
        const vector = () => Array.from({ length: width }, random);
        const rowsOf = () => Array.from({ length: 16 }, vector);
        const [a, b, x, y] = [rowsOf(), rowsOf(), vector(), vector()];
        const of = (rows: number[][]) => tensorOf(gpu, strided(rows, stride32(width)));
        const [first, second] = [of(a), of(b)];
        const [firstWeight, secondWeight] = [x, y].map((weight) => tensorOf(gpu, Float32Array.from(weight)));
        const tensors = {
          first,
          second,
          firstWeight: firstWeight as typeof first,
          secondWeight: secondWeight as typeof first,
        };
        const stride = stride32(2 * width);
        const expected = strided(
          a.map((row, i) => pairNormReference(row, x, b[i] as number[], y, 1e-5)),
          stride,
        );
        const all: Float32Array[] = [];
        for (const rows of [1, 2, 4, 8, 12, 16]) {
          const output = gpu.activation(16, stride, 'output');
          const [values] = await runKernel(gpu, [output], (plan) =>
            pairNorm(plan, { ...tensors, output }, { rows, width, epsilon: 1e-5 }, tuning),
          );
          all.push((values as Float32Array).subarray(0, rows * stride));
        }
        const last = all.at(-1) as Float32Array;
        expect(deviation(last, expected), `width ${width}`).toBeLessThan(2e-6);
        for (const values of all) expect(values, `width ${width}`).toEqual(last.subarray(0, values.length));
      }
    });
