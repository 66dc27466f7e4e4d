// The control of device-distribution.test.ts: with a verifier that replaces a refused draft by a draw from p, not from
// the residual, the sampled distribution is far from the target's. The shader itself is broken here, and nothing else.
import { afterAll, expect, it, vi } from 'vitest';
import draftModel from '../../systems/draft-model.ts';
import { testGpu } from '../device/gpu.ts';
import { deviceSamplingDistance, MARGIN, smallModels } from './device-sampling.ts';

/** The line of the shader that draws from the residual, and what it becomes: a draw from p. */
const { residual, target } = vi.hoisted(() => ({
  residual: 'replace(lane, kept, 1)',
  target: 'replace(lane, kept, 0)',
}));

vi.mock('../../../shaders/verify/verify-ratio.wgsl?raw', async (original) => {
  const { default: text } = await original<{ readonly default: string }>();
  if (text.split(residual).length !== 2)
    throw new Error(`verify-ratio.wgsl must have "${residual}" once, to be broken`);
  return { default: text.replace(residual, target) };
});

afterAll(async () => (await testGpu()).destroy());

it('a verifier that does not subtract the draft is found out', { timeout: 900_000 }, async () => {
  const models = await smallModels(await testGpu());
  const { totalVariation, noise } = await deviceSamplingDistance(models, { system: draftModel, knobs: {} }, 500);
  console.log(`broken verifier: total variation ${totalVariation.toFixed(4)}, noise ${noise.toFixed(4)}`);
  expect(totalVariation).toBeGreaterThan(2 * MARGIN * noise);
  await models.close();
});
