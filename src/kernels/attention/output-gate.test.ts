import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { outputGateReference } from './output-gate.reference.ts';
import { outputGate } from './output-gate.ts';

for (const features of ['all', 'baseline'] as const)
  test(`output-gate on ${features}`, async () => {
    const gpu = await testGpu(features);
    for (const width of [1, 31, 33, 96]) {
      const random = noise(width);
      const rows = Array.from({ length: 16 }, () => Array.from({ length: width }, random));
      const gates = Array.from({ length: 16 }, () => Array.from({ length: width }, random));
      const stride = stride32(width);
      const run = async (M: number): Promise<Float32Array> => {
        const attended = tensorOf(gpu, strided(rows, stride));
        const gate = tensorOf(gpu, strided(gates, stride));
        const [values] = await runKernel(gpu, [attended], (plan) =>
          outputGate(plan, { gate, attended }, { rows: M, stride }),
        );
        return values as Float32Array;
      };
      const expected = rows.map((row, i) => outputGateReference(row, gates[i] as number[]));
      const all = await run(16);
      expect(deviation(all, strided(expected, stride)), `width ${width}`).toBeLessThan(5e-6);
      for (const M of [1, 2, 4, 8]) expect((await run(M)).subarray(0, M * stride)).toEqual(all.subarray(0, M * stride));
    }
  });
