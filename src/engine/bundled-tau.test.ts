// The bundled drafters draft as well in the engine as in training: a norm or a row read elsewhere keeps every output
// right and costs only acceptance.
import { expect, it } from 'vitest';
import { bundledSource, collect, problems } from '../testing/contract/device-contract.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { noShared, shared } from '../testing/goldens/shared.ts';
import { committedTokens, measure } from '../trace/index.ts';
import { folderSource } from '../weights/files/folder.ts';
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

it.skipIf(noShared)(
  'the drafter for SmolLM2 commits 2 tokens a round or more, and the tokens of plain decoding',
  async () => {
    const engine = createEngine({ gpu: await testGpu('all') });
    const target = await folderSource(shared('models/smollm2-135m-instruct'));
    await engine.load({ target, eagle3: await bundledSource('smollm2-eagle3') });
    const prompt = {
      messages: [{ role: 'user', content: 'A box holds 12 pens. How many pens are in 7 boxes?' }],
    } as const;
    const run = (system: string, knobs = {}) => collect(engine, { prompt, system, knobs, maxTokens: 32 });
    const plain = committedTokens(await run('autoregressive'));
    const chain = await run('eagle3', { shape: 'chain', depth: 3, 'fall-back': 'off' });
    expect(committedTokens(chain)).toEqual(plain);
    expect(measure(chain).tokens_per_round).toBeGreaterThan(2);
    expect(committedTokens(await run('combined'))).toEqual(plain);
    await engine.close();
  },
);
