import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { gatedNormReference } from './gated-norm.reference.ts';
import { gatedNorm } from './gated-norm.ts';

for (const features of ['all', 'baseline'] as const)
  test(`gated-norm on ${features}`, async () => {
    const gpu = await testGpu(features);
    const epsilon = 1e-3;
    for (const [heads, headDim, firstGate] of [
      [1, 1, 0],
      [3, 31, 5],
      [2, 33, 64],
      [4, 16, 1],
    ] as const) {
      const random = noise(heads * headDim);
      const list = (length: number) => Array.from({ length }, random);
      const width = firstGate + heads * headDim;
      const rows = Array.from({ length: 16 }, () => ({ input: list(heads * headDim), gates: list(width) }));
      const weight = list(headDim);
      const stride = stride32(heads * headDim);
      const input = tensorOf(
        gpu,
        strided(
          rows.map((row) => row.input),
          stride,
        ),
      );
      const gates = tensorOf(
        gpu,
        strided(
          rows.map((row) => row.gates),
          stride32(width),
        ),
      );
      const weights = tensorOf(gpu, Float32Array.from(weight));
      const run = async (M: number): Promise<Float32Array> => {
        const output = gpu.activation(M, stride, 'output');
        const [values] = await runKernel(gpu, [output], (plan) =>
          gatedNorm(
            plan,
            { input, gates, weight: weights, output },
            { rows: M, heads, headDim, width, firstGate, epsilon },
          ),
        );
        return values as Float32Array;
      };
      const expected = rows.map((row) =>
        Array.from({ length: heads }, (_, head) => {
          const at = (from: number) => from + head * headDim;
          const gate = row.gates.slice(at(firstGate), at(firstGate) + headDim);
          return gatedNormReference(row.input.slice(at(0), at(0) + headDim), gate, weight, epsilon);
        }).flat(),
      );
      const all = await run(16);
      expect(deviation(all, strided(expected, stride)), `${heads} heads of ${headDim}`).toBeLessThan(5e-6);
      for (const M of [1, 2, 4, 8]) expect(await run(M)).toEqual(all.subarray(0, M * stride));
    }
  });
