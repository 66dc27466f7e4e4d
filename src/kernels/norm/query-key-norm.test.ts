import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { queryKeyNormReference } from './query-key-norm.reference.ts';
import { queryKeyNorm } from './query-key-norm.ts';

for (const features of ['all', 'baseline'] as const)
  for (const tuning of [{ threads: 1 }, { threads: 256 }])
    test(`query-key-norm on ${features}, ${tuning.threads} lanes a row`, async () => {
      const gpu = await testGpu(features);
      for (const [queries, keys] of [
        [8, 8],
        [40, 8],
        [64, 32],
        [120, 24],
        [576, 192],
      ] as const) {
        const random = noise(queries + keys);
        const vector = (length: number) => Array.from({ length }, random);
        const rows = Array.from({ length: 16 }, () => vector(queries + 2 * keys));
        const [a, b] = [vector(queries), vector(keys)];
        const [queryNorm, keyNorm] = [tensorOf(gpu, Float32Array.from(a)), tensorOf(gpu, Float32Array.from(b))];
        const stride = stride32(queries + 2 * keys);
        const expected = strided(
          rows.map((row) => queryKeyNormReference(row, a, b, 1e-5)),
          stride,
        );
        const all: Float32Array[] = [];
        for (const M of [1, 2, 4, 8, 12, 16]) {
          const qkv = tensorOf(gpu, strided(rows, stride));
          const [values] = await runKernel(gpu, [qkv], (plan) =>
            queryKeyNorm(plan, { queryNorm, keyNorm, qkv }, { rows: M, stride, queries, keys, epsilon: 1e-5 }, tuning),
          );
          all.push((values as Float32Array).subarray(0, M * stride));
        }
        const last = all.at(-1) as Float32Array;
        expect(deviation(last, expected), `${queries} and ${keys}`).toBeLessThan(1e-6);
        for (const values of all) expect(values, `${queries} and ${keys}`).toEqual(last.subarray(0, values.length));
      }
    });
