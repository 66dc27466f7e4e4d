// MTP on the device: it writes and samples what plain decoding does, with the layer of a small Qwen3.5.
import { afterAll, describe, expect, it } from 'vitest';
import { measure } from '../../trace/index.ts';
import { testGpu } from '../device/gpu.ts';
import { BaselineComparison, collect, requestOf } from './device-contract.ts';
import { deviceSamplingDistance, MARGIN, targetWithMtp } from './device-sampling.ts';
import type { SystemVariant } from './exact-systems.ts';
import { MTP_PROMPTS, MTP_VARIANTS, mtpEngine } from './mtp-contract.ts';

const PATIENCE = { timeout: 900_000 };
const LENGTH = { maxTokens: 48, ignoreEos: true };

afterAll(async () => (await testGpu()).destroy());

describe.each([
  ['f16', 'f16'],
  ['q4', 'q8'],
] as const)('weights at %s, keys and values at %s', (precision, cache) => {
  const comparison = new BaselineComparison(async () => mtpEngine(await testGpu(), precision, cache));
  afterAll(() => comparison.close());

  it.each(MTP_VARIANTS)('$name writes the tokens of plain decoding, several a round', PATIENCE, async (variant) => {
    expect(await comparison.differences(variant, MTP_PROMPTS, LENGTH)).toBe(0);
    const prompt = { tokens: [4] };
    const events = await collect(await comparison.engine(), { ...LENGTH, ...requestOf(variant), prompt });
    const { tokens_per_round, accepted, drafted } = measure(events);
    expect(tokens_per_round).toBeGreaterThan(1.3);
    expect(drafted).toBeGreaterThan(accepted);
  });

  it.each(MTP_VARIANTS.filter(({ drawn }) => !drawn))(
    '$name samples the tokens of plain decoding',
    PATIENCE,
    async (variant) => {
      const sampling = { temperature: 1, topP: 0.95, seed: 11 };
      expect(await comparison.differences(variant, MTP_PROMPTS, { ...LENGTH, ...sampling })).toBe(0);
    },
  );
});

it('a chain that is drawn has the distribution of plain decoding', PATIENCE, async () => {
  const bench = await targetWithMtp(await testGpu());
  const [chain] = MTP_VARIANTS.filter(({ drawn }) => drawn);
  const runs = 400;
  const { totalVariation, noise, kept, refused } = await deviceSamplingDistance(bench, chain as SystemVariant, runs);
  expect(Math.min(kept, refused)).toBeGreaterThan(0.05 * runs);
  expect(totalVariation).toBeLessThan(MARGIN * noise);
  await bench.close();
});
