import { expect, test } from 'vitest';
import { loadModel } from '../model/load/load-model.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { tinyCheckpoint } from '../testing/toys/tiny.ts';
import { createEngine } from './engine.ts';

test('what no load waits for is compiled once nothing has run for a second', async () => {
  const gpu = await testGpu();
  using model = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
  const { asked } = gpu.pipelines;
  const engine = createEngine({ gpu, whenIdle: true });
  await engine.load({ target: { name: 'tiny', model, tokenizer: null, stopTokens: [] } });
  expect(gpu.pipelines.asked).toBe(asked);
  await expect.poll(() => gpu.pipelines.compiled, { timeout: 20_000 }).toBe(asked + 2);
  await model.keepDistributions();
  expect(gpu.pipelines.asked).toBe(asked + 2);
  await gpu.compileRest(() => true);
  expect(gpu.pipelines.asked).toBe(asked + 2);
  await engine.close();
});
