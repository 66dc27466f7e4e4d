import { expect, test } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { drawAllowedReference } from './draw-allowed.reference.ts';
import { allowedWords, drawAllowed, isAllowed } from './draw-allowed.ts';
import { sampleReference } from './sample.reference.ts';
import { CHOICE_WORDS, type Draw, packDraws, unpackChoices } from './sample.ts';

const draw: Draw = { row: 0, temperature: 1, topK: 0, topP: 1, minP: 0, seed: 1, position: 0, entry: 0 };

const drawn = async (
  gpu: Gpu,
  row: readonly number[],
  draws: readonly Draw[],
  allowed: Uint32Array,
  threads: number,
) => {
  const vocabulary = row.length;
  const stride = stride32(vocabulary);
  const choices = tensorOf(gpu, new Uint32Array(draws.length * CHOICE_WORDS));
  const tensors = {
    logits: tensorOf(gpu, strided([row], stride)),
    draws: tensorOf(gpu, packDraws(draws.map((each, i) => ({ ...each, entry: i })))),
    allowed: tensorOf(gpu, allowed),
    choices,
  };
  const [data] = await runKernel(gpu, [choices], (plan) =>
    drawAllowed(plan, tensors, { rows: draws.length, vocabulary, stride }, { threads }),
  );
  return unpackChoices((data as Float32Array<ArrayBuffer>).buffer);
};

/** A set of about this share of the vocabulary, never empty. */
const someOf = (vocabulary: number, share: number): Uint32Array<ArrayBuffer> => {
  const random = noise(vocabulary + 1);
  const allowed = new Uint32Array(allowedWords(vocabulary));
  for (let token = 0; token < vocabulary; token++)
    if ((random() + 1) / 2 < share || token === vocabulary - 1)
      allowed[token >>> 5] = (allowed[token >>> 5] ?? 0) | (1 << (token & 31));
  return allowed;
};

for (const features of ['all', 'baseline'] as const)
  for (const threads of [8, 256])
    test(`draw-allowed on ${features}, ${threads} lanes a draw, agrees with the CPU reference`, async () => {
      const gpu = await testGpu(features);
      for (const vocabulary of [1, 31, 33, 200, 5000])
        for (const share of [0.01, 0.5, 1]) {
          const random = noise(vocabulary);
          const row = Array.from({ length: vocabulary }, () => Math.fround(3 * random()));
          const allowed = someOf(vocabulary, share);
          const draws = [
            { ...draw, temperature: 0 },
            ...Array.from({ length: 8 }, (_, position) => ({ ...draw, position })),
            { ...draw, topK: 1 },
            { ...draw, topK: 20, temperature: 2 },
            { ...draw, topP: 0.5, position: 12345 },
            { ...draw, minP: 0.1 },
            { ...draw, topK: 40, topP: 0.9, minP: 0.02, temperature: 0.8, seed: 0xffff_ffff },
          ];
          const choices = await drawn(gpu, row, draws, allowed, threads);
          for (const [i, choice] of choices.entries()) {
            const own = draws[i] as Draw;
            const allows = (token: number): boolean => isAllowed(allowed, token);
            const name = `vocabulary ${vocabulary}, ${share} allowed: ${JSON.stringify(own)}`;
            const free = sampleReference(row, own);
            expect(choice.token, name).toBe(drawAllowedReference(row, own, allows));
            expect(choice.logSumExp, name).toBeCloseTo(free.logSumExp, 5);
            // The claim that constrained verification rests on.
            if (allows(free.token)) expect(choice.token, name).toBe(free.token);
          }
        }
    });
