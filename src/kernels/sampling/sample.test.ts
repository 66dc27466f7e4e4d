import { expect, test } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { gumbel } from './counter-random.ts';
import { distributionReference, sampleReference } from './sample.reference.ts';
import { CHOICE_WORDS, type Draw, packDraws, type RawChoice, sample, unpackChoices } from './sample.ts';

const draw: Draw = { row: 0, temperature: 1, topK: 0, topP: 1, minP: 0, seed: 1, position: 0, entry: 0 };

const sampled = async (
  gpu: Gpu,
  rows: readonly (readonly number[])[],
  draws: readonly Draw[],
  threads: number,
): Promise<RawChoice[]> => {
  const vocabulary = rows[0]?.length ?? 0;
  const stride = stride32(vocabulary);
  const choices = tensorOf(gpu, new Uint32Array(draws.length * CHOICE_WORDS));
  const tensors = {
    logits: tensorOf(gpu, strided(rows, stride)),
    draws: tensorOf(gpu, packDraws(draws.map((each, i) => ({ ...each, entry: draws.length - 1 - i })))),
    choices,
  };
  const [data] = await runKernel(gpu, [choices], (plan) =>
    sample(plan, tensors, { rows: draws.length, vocabulary, stride }, { threads }),
  );
  return unpackChoices((data as Float32Array<ArrayBuffer>).buffer).reverse();
};

const logitRows = (count: number, vocabulary: number): number[][] => {
  const random = noise(vocabulary);
  return Array.from({ length: count }, () => Array.from({ length: vocabulary }, () => Math.fround(3 * random())));
};

for (const features of ['all', 'baseline'] as const)
  for (const threads of [8, 256])
    test(`sample on ${features}, ${threads} lanes a draw, agrees with the CPU reference`, async () => {
      const gpu = await testGpu(features);
      for (const vocabulary of [1, 31, 33, 200, 5000]) {
        const rows = logitRows(3, vocabulary);
        const draws = [
          draw,
          { ...draw, temperature: 0 },
          { ...draw, temperature: 0.3, position: 7 },
          { ...draw, topK: 1 },
          { ...draw, topK: 20, temperature: 2 },
          { ...draw, topP: 0.5, position: 12345 },
          { ...draw, topP: 0.95, temperature: 1.5 },
          { ...draw, topP: 0 },
          { ...draw, minP: 0.1 },
          { ...draw, topK: 40, topP: 0.9, minP: 0.02, temperature: 0.8, seed: 0xffff_ffff },
        ].flatMap((each) => rows.map((_, row) => ({ ...each, row })));
        const choices = await sampled(gpu, rows, draws, threads);
        choices.forEach((choice, i) => {
          const own = draws[i] as Draw;
          const expected = sampleReference(rows[own.row] ?? [], own);
          const name = `vocabulary ${vocabulary}: ${JSON.stringify(own)}`;
          expect({ token: choice.token, logit: choice.logit, broken: choice.broken }, name).toEqual({
            token: expected.token,
            logit: expected.logit,
            broken: false,
          });
          expect(choice.logSumExp, name).toBeCloseTo(expected.logSumExp, 5);
        });
        // Each draw by itself: the same bits.
        for (const i of [0, 13, 29])
          expect(await sampled(gpu, rows, [draws[i] as Draw], threads)).toEqual([choices[i]]);
      }
    });

test('ties go to the lowest index; NaN and +infinity are reported, -infinity is not', async () => {
  const gpu = await testGpu();
  const row = Array.from({ length: 500 }, () => -1);
  row[77] = 2;
  row[300] = 2;
  row[499] = 2;
  const masked = row.map((x, i) => (i === 77 ? Number.NEGATIVE_INFINITY : x));
  const nan = row.map((x, i) => (i === 400 ? Number.NaN : x));
  const infinite = row.map((x, i) => (i === 400 ? Number.POSITIVE_INFINITY : x));
  const greedy = [0, 1, 2, 3].map((which) => ({ ...draw, temperature: 0, row: which }));
  for (const threads of [8, 256]) {
    const choices = await sampled(gpu, [row, masked, nan, infinite], greedy, threads);
    expect(choices.map(({ token }) => token).slice(0, 2)).toEqual([77, 300]);
    expect(choices.map(({ broken }) => broken)).toEqual([false, false, true, true]);
  }
});

/**
 * Chi-square over the tokens expected at least five times, the rest as one, in units of its own spread above its mean.
 */
const surprise = (choices: readonly RawChoice[], distribution: readonly number[]): number => {
  const counts = distribution.map(() => 0);
  for (const { token } of choices) counts[token] = (counts[token] as number) + 1;
  let [statistic, cells, restSeen, restExpected] = [0, 0, 0, 0];
  distribution.forEach((p, token) => {
    const expected = p * choices.length;
    const seen = counts[token] as number;
    if (expected >= 5) {
      statistic += (seen - expected) ** 2 / expected;
      cells++;
    } else {
      restSeen += seen;
      restExpected += expected;
    }
  });
  if (restExpected > 0) statistic += (restSeen - restExpected) ** 2 / Math.max(restExpected, 1);
  else if (restSeen > 0) return Number.POSITIVE_INFINITY; // an impossible token
  return (statistic - cells) / Math.sqrt(2 * Math.max(cells, 1));
};

/** No filter, each by itself, and all together. */
const distributions: Partial<Draw>[] = [
  {},
  { topK: 5 },
  { topP: 0.8 },
  { minP: 0.05 },
  { temperature: 1.1, topK: 12, topP: 0.85, minP: 0.03 },
];

for (const features of ['all', 'baseline'] as const)
  test(`sample on ${features} obeys the distribution of each filter; a distribution that is off by a tenth is caught`, async () => {
    const gpu = await testGpu(features);
    const [row] = logitRows(1, 97) as [number[]];
    for (const filters of features === 'all' ? distributions : distributions.slice(-1)) {
      const own = { ...draw, ...filters };
      const draws = Array.from({ length: 20_000 }, (_, position) => ({ ...own, position, seed: 42 }));
      const choices = await sampled(gpu, [row], draws, 8);
      expect(surprise(choices, distributionReference(row, own)), JSON.stringify(filters)).toBeLessThan(5);
      const wrong = { ...own, temperature: own.temperature * 1.1 };
      expect(
        surprise(choices, distributionReference(row, wrong)),
        `control ${JSON.stringify(filters)}`,
      ).toBeGreaterThan(5);
    }
  }, 180_000); // 20 000 draws a distribution: seconds on a quiet machine, a minute on a busy one

test('the generator: Gumbel noise has its mean and variance along each of its keys', () => {
  const count = 20_000;
  const keys: ((i: number) => [number, number, number])[] = [(i) => [i, 3, 5], (i) => [3, i, 5], (i) => [3, 5, i]];
  for (const key of keys) {
    const values = Array.from({ length: count }, (_, i) => gumbel(...key(i)));
    const mean = values.reduce((a, b) => a + b, 0) / count;
    const variance = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / count;
    expect(Math.abs(mean - 0.5772)).toBeLessThan(0.04); // four standard errors
    expect(Math.abs(variance - Math.PI ** 2 / 6)).toBeLessThan(0.12);
  }
});
