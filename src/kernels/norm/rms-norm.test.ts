import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { rmsNormReference } from './rms-norm.reference.ts';
import { rmsNorm, rmsNormAdd, rmsNormTap } from './rms-norm.ts';

const tunings = [{ threads: 1 }, { threads: 256 }];

for (const features of ['all', 'baseline'] as const)
  for (const tuning of tunings)
    test(`rms-norm on ${features}, ${tuning.threads} lanes a row`, async () => {
      const gpu = await testGpu(features);
      for (const width of [1, 31, 33, 64, 192, 576]) {
        const random = noise(width);
        const rows = Array.from({ length: 16 }, () => Array.from({ length: width }, random));
        const weight = Array.from({ length: width }, random);
        const stride = stride32(width);
        const input = tensorOf(gpu, strided(rows, stride));
        const weights = tensorOf(gpu, Float32Array.from(weight));
        const all: Float32Array[] = [];
        for (const M of [1, 2, 4, 8, 12, 16]) {
          const output = gpu.activation(16, stride, 'output');
          const [values] = await runKernel(gpu, [output], (plan) =>
            rmsNorm(plan, { input, weight: weights, output }, { rows: M, width, epsilon: 1e-5 }, tuning),
          );
          all.push((values as Float32Array).subarray(0, M * stride));
          const tap = gpu.activation(16, stride, 'tap');
          const [same, copied] = await runKernel(gpu, [output, tap], (plan) =>
            rmsNormTap(plan, { input, weight: weights, output, tap }, { rows: M, width, epsilon: 1e-5 }, tuning),
          );
          const stream = tensorOf(gpu, strided(rows, stride));
          const [added] = await runKernel(gpu, [stream], (plan) =>
            rmsNormAdd(
              plan,
              { input, weight: weights, output: stream },
              { rows: M, width, epsilon: 1e-5, scale: 0.375 },
              tuning,
            ),
          );
          const sums = rows.map((row) => {
            const y = rmsNormReference(row, weight, 1e-5);
            return row.map((x, i) => x + 0.375 * (y[i] as number));
          });
          sums.splice(M, 16, ...rows.slice(M));
          expect(deviation(added as Float32Array, strided(sums, stride)), `added, width ${width}`).toBeLessThan(1e-6);
          expect(same, `tapped, width ${width}`).toEqual(values);
          expect(copied?.subarray(0, M * stride), `tap, width ${width}`).toEqual(
            strided(rows, stride).subarray(0, M * stride),
          );
        }
        const last = all.at(-1) as Float32Array;
        const expected = strided(
          rows.map((row) => rmsNormReference(row, weight, 1e-5)),
          stride,
        );
        expect(deviation(last, expected), `width ${width}`).toBeLessThan(1e-6);
        for (const values of all) expect(values, `width ${width}`).toEqual(last.subarray(0, values.length));
      }
    });
