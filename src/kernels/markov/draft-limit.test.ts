import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { draftLimitReference } from './draft-limit.reference.ts';
import { DRAFT_LIMIT, draftLimit, LIMIT_RULES, MOST_LIMITED } from './draft-limit.ts';

for (const features of ['all', 'baseline'] as const)
  test(`the limit by every rule, size and first row on ${features}`, async () => {
    const gpu = await testGpu(features);
    const kept = new Set<number>();
    for (const rule of LIMIT_RULES)
      for (const count of [1, 2, 7, 15, 16])
        for (const threshold of [0, 0.5, 0.9]) {
          const random = noise(count + threshold);
          const first = count % 2;
          const logits = Array.from({ length: count }, (_, n) => 4 + 6 * random() - n / 2);
          const divisors = Array.from({ length: MOST_LIMITED }, (_, n) => 1 + n / 10);
          const costs = Array.from({ length: MOST_LIMITED + 1 }, (_, n) => 1 + n / 8);
          const packed = { rule: LIMIT_RULES.indexOf(rule), first, count, threshold, divisors, costs };
          const rows = [...Array.from({ length: first }, () => [-9]), ...logits.map((z) => [z])];
          const confidence = tensorOf(gpu, strided(rows, 32));
          const limit = tensorOf(gpu, Uint32Array.of(99));
          const job = tensorOf(gpu, DRAFT_LIMIT.pack([packed]));
          const [out] = await runKernel(gpu, [limit], (plan) =>
            draftLimit(plan, { job, confidence, limit }, { stride: 32 }),
          );
          const expected = draftLimitReference(logits, { rule, threshold, divisors, costs });
          expect(new Uint32Array((out as Float32Array).buffer)[0], `${rule} ${count} ${threshold}`).toBe(expected + 1);
          kept.add(expected);
        }
    expect(kept.size).toBeGreaterThan(4);
  });
