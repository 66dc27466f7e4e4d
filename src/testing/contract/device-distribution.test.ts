// What exact systems sample on bundled models and a real adapter has their baseline's distribution, where drafts are
// drawn at random. device-broken.test.ts is the control.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import ensemble from '../../systems/ensemble.ts';
import ensembleParallel from '../../systems/ensemble-parallel.ts';
import { SYSTEMS } from '../../systems/index.ts';
import mtp from '../../systems/mtp.ts';
import { testGpu } from '../device/gpu.ts';
import { everyOther, FULL } from './device-contract.ts';
import {
  deviceSamplingDistance,
  MARGIN,
  type SamplingBench,
  sampledTokens,
  smallModels,
  targetWithDrafters,
} from './device-sampling.ts';
import { choicesOf, type SystemVariant, variantsOf } from './exact-systems.ts';

/**
 * Fewer where that takes too long. The broken verifier is at 3 times the noise of 500 seeds, which is 2.1 times that of
 * 250; a right one stays below 1.5.
 */
const RUNS = FULL ? { small: 4000, drafters: 2000 } : { small: 250, drafters: 350 };

/** Variants that differ in numbers alone draw the same here: how much is drafted, and a draft has one token. */
const ALL: readonly SystemVariant[] = SYSTEMS.filter(({ guarantee }) => guarantee === 'exact').flatMap((system) => {
  const drawn = variantsOf(system).filter(({ drawn }) => drawn && system !== mtp); // device-mtp.test.ts
  return drawn.filter(
    ({ knobs }, i) => i === drawn.findIndex((each) => choicesOf(system, each.knobs) === choicesOf(system, knobs)),
  );
});
/** Without the one that has another's very tokens (below). */
const DRAWN = FULL ? ALL : everyOther(ALL, 0).filter(({ system }) => system !== ensembleParallel);

const isSmall = ({ system: { needs } }: SystemVariant): boolean =>
  needs.every((role) => role === 'target' || role === 'draft');

afterAll(async () => (await testGpu()).destroy());

describe.each([
  { models: 'two small models', load: smallModels, variants: DRAWN.filter(isSmall), runs: RUNS.small },
  {
    models: 'the bundled target with its drafters',
    load: targetWithDrafters,
    variants: DRAWN.filter((variant) => !isSmall(variant)),
    runs: RUNS.drafters,
  },
])('$models', ({ load, variants, runs }) => {
  let models: Promise<SamplingBench> | null = null;
  afterAll(async () => (await models)?.close());

  it.each(variants)(
    `$name follows its baseline's distribution: ${runs} seeds`,
    { timeout: 900_000 },
    async (variant) => {
      models ??= testGpu().then(load);
      const { totalVariation, noise, kept, refused } = await deviceSamplingDistance(await models, variant, runs);
      const figures = `total variation ${totalVariation.toFixed(4)}, noise ${noise.toFixed(4)}`;
      console.log(`${variant.name}: ${figures}, ${kept} drafts kept, ${refused} refused`);
      if (kept + refused > 0) expect(Math.min(kept, refused)).toBeGreaterThan(0.05 * runs);
      expect(totalVariation).toBeLessThan(MARGIN * noise);
    },
  );
});

describe('two small models as an ensemble', () => {
  let models: SamplingBench;
  beforeAll(async () => {
    models = await smallModels(await testGpu());
  });
  afterAll(() => models.close());

  it.each(variantsOf(ensembleParallel))('$name draws the very tokens of ensemble: 30 seeds', async ({ knobs }) => {
    for (let seed = 0; seed < 30; seed++)
      expect(await sampledTokens(models, { system: ensembleParallel, knobs }, seed), `seed ${seed}`).toEqual(
        await sampledTokens(models, { system: ensemble, knobs }, seed),
      );
  });
});
