import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { CHOICE_WORDS, unpackChoices } from './sample.ts';
import { topReference } from './top.reference.ts';
import { top } from './top.ts';

for (const features of ['all', 'baseline'] as const)
  for (const threads of [8, 256])
    test(`top on ${features}, ${threads} lanes`, async () => {
      const gpu = await testGpu(features);
      for (const vocabulary of [20, 31, 33, 5000]) {
        const random = noise(vocabulary);
        // Rounded, so that there are ties.
        const rows = Array.from({ length: 3 }, () =>
          Array.from({ length: vocabulary }, () => Math.round(random() * 16) / 8),
        );
        const logits = tensorOf(gpu, strided(rows, stride32(vocabulary)));
        for (const n of [1, 5, 20])
          for (const which of [0, 2]) {
            const output = tensorOf(gpu, new Uint32Array(n * CHOICE_WORDS));
            const row = tensorOf(gpu, Uint32Array.of(which));
            const [data] = await runKernel(gpu, [output], (plan) =>
              top(plan, { logits, row, output }, { n, vocabulary }, { threads }),
            );
            const choices = unpackChoices((data as Float32Array<ArrayBuffer>).buffer);
            const expected = topReference(rows[which] ?? [], n);
            expect(choices.map(({ token }) => token)).toEqual(expected.map(({ token }) => token));
            choices.forEach(({ logit, logSumExp, broken }, i) => {
              expect(logit - logSumExp).toBeCloseTo(expected[i]?.logprob ?? 0, 5);
              expect(broken).toBe(false);
            });
          }
      }
    });
