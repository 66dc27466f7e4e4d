import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { gatherTapsReference } from './gather-taps.reference.ts';
import { gatherTaps } from './gather-taps.ts';

const MOST = 16;

for (const features of ['all', 'baseline'] as const)
  test(`gather-taps on ${features}`, async () => {
    const gpu = await testGpu(features);
    for (const [width, taps, rows] of [
      [1, 3, 1],
      [31, 2, 16],
      [33, 5, 3],
      [64, 1, 8],
      [96, 4, 2],
    ] as const) {
      const random = noise(width);
      const input = Array.from({ length: taps }, () =>
        Array.from({ length: MOST }, () => Array.from({ length: width }, random)),
      );
      const output = gpu.activation(rows, stride32(taps * width), 'output');
      const [values] = await runKernel(gpu, [output], (plan) =>
        gatherTaps(
          plan,
          { input: tensorOf(gpu, strided(input.flat(), stride32(width))), output },
          { rows, taps, width, most: MOST },
        ),
      );
      expect(values).toEqual(strided(gatherTapsReference(input, rows), stride32(taps * width)));
    }
  });
