// The bundled drafters draft as well in the engine as in training: a norm or a row read elsewhere keeps every output
// right and costs only acceptance.
import { expect, it } from 'vitest';
import { bundledSource, collect, problems } from '../testing/contract/device-contract.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { measure } from '../trace/index.ts';
import { createEngine } from './engine.ts';

/** PyTorch: 7.5 over these problems by DFlash, 7.5 over all held-out ones by EAGLE-3 (training/data/tau.json). */
it.each([
  { system: 'dflash', knobs: { 'block-size': 8, 'fall-back': 'off' }, least: 7.2 },
  { system: 'eagle3', knobs: { shape: 'chain', depth: 7, 'fall-back': 'off' }, least: 6.9 },
])('$system commits $least tokens a round or more', async ({ system, knobs, least }) => {
  const engine = createEngine({ gpu: await testGpu('all') });
  await engine.load({ target: await bundledSource('target'), [system]: await bundledSource(system) });
  let [tokens, rounds] = [0, 0];
  for (const prompt of problems(4)) {
    const figures = measure(await collect(engine, { prompt, system, knobs }));
    tokens += figures.tokens - 1; // the first belongs to no round
    rounds += figures.rounds;
  }
  expect(tokens / rounds).toBeGreaterThan(least);
  await engine.close();
});
