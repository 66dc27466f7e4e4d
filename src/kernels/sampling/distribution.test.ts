import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { distribution } from './distribution.ts';
import { distributionReference } from './sample.reference.ts';
import { type Draw, packDraws } from './sample.ts';

const draw: Draw = { row: 0, temperature: 1, topK: 0, topP: 1, minP: 0, seed: 1, position: 0, entry: 0 };

for (const features of ['all', 'baseline'] as const)
  test(`distribution on ${features}: each filter, rows and entries of one's choice, alone as among others`, async () => {
    const gpu = await testGpu(features);
    for (const [vocabulary, threads] of [
      [1, 8],
      [31, 256],
      [33, 8],
      [1000, 8],
      [1000, 256],
    ] as const) {
      const random = noise(vocabulary);
      const stride = stride32(vocabulary);
      const rows = Array.from({ length: 2 }, () => Array.from({ length: vocabulary }, () => Math.fround(3 * random())));
      const logits = tensorOf(gpu, strided(rows, stride));
      const draws = [
        draw,
        { ...draw, temperature: 0 },
        { ...draw, temperature: 0.3 },
        { ...draw, topK: 20, temperature: 2 },
        { ...draw, topP: 0.8 },
        { ...draw, minP: 0.1 },
        { ...draw, topK: 40, topP: 0.9, minP: 0.02, temperature: 0.8 },
      ].flatMap((each) => rows.map((_, row) => ({ ...each, row })));
      const run = async (wanted: readonly Draw[]) => {
        const distributions = tensorOf(gpu, new Float32Array(draws.length * stride).fill(-1));
        const [values] = await runKernel(gpu, [distributions], (plan) =>
          distribution(
            plan,
            { logits, draws: tensorOf(gpu, packDraws(wanted)), distributions },
            { rows: wanted.length, vocabulary, stride },
            { threads },
          ),
        );
        return Array.from(draws, (_, i) => (values as Float32Array).subarray(i * stride, i * stride + vocabulary));
      };
      const last = draws.length - 1;
      const written = await run(draws.map((each, i) => ({ ...each, distribution: last - i })));
      draws.forEach((each, i) => {
        const name = `vocabulary ${vocabulary}: ${JSON.stringify(each)}`;
        const own = written[last - i] as Float32Array;
        expect(deviation(own, distributionReference(rows[each.row] ?? [], each)), name).toBeLessThan(1e-5);
        expect(
          own.reduce((a, b) => a + b, 0),
          name,
        ).toBeCloseTo(1, 5);
      });
      const alone = await run([draw, { ...(draws[last] as Draw), distribution: 3 }]);
      expect(alone[3]).toEqual(written[0]);
      expect(alone[0], 'a draw that names no distribution').toEqual(new Float32Array(vocabulary).fill(-1));
    }
  });
