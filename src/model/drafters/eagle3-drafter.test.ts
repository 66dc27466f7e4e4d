// EAGLE-3 drafters against the authors' code, sampled runs against plain decoding, and the layer's output over the
// prompt.
import { describe, expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { chain, GREEDY, goldenTensor, loadShared, relativeError } from '../../testing/goldens/golden.ts';
import {
  checkEagle3,
  EAGLE3_TARGET,
  loadEagle3,
  type Propose,
  prefillEagle3,
  readEagle3,
  runEagle3,
} from '../../testing/goldens/golden-eagle3.ts';
import { noShared } from '../../testing/goldens/shared.ts';
import { EVERY_SECOND, TINY_EAGLE3, tinyCheckpoint } from '../../testing/toys/tiny.ts';
import { rowsOf } from '../arena.ts';
import { unpad } from '../forward/pass.ts';
import type { Choice, Sampling } from '../interface.ts';
import { loadDrafter } from '../load/load-drafter.ts';
import { loadModel } from '../load/load-model.ts';

const TOLERANCE = 1e-3;

describe.skipIf(noShared)('EAGLE-3 in other layouts', () => {
  test.each([
    ['eagle3-tiny-angelslim', 'config.json'],
    ['layouts/eagle3-tiny-angelslim-bin', 'config.json'],
    ['eagle3-tiny-speculators', 'config.json'],
    ['eagle3-tiny-speculators', 'config.converted.json'],
  ])('%s, %s', async (name, config) => {
    await checkEagle3(await testGpu(), name, config);
  });

  test('the normed feature is the residual, where the config says so', async () => {
    const gpu = await testGpu();
    const name = 'eagle3-tiny-speculators';
    using target = await loadShared(gpu, EAGLE3_TARGET);
    using drafter = await loadEagle3(gpu, name, target, 'config.norm-before-residual.json');
    using cursor = await target.open({ capacity: 32, tapLayers: drafter.tapLayers });
    using context = await drafter.open({ capacity: 32 });
    await prefillEagle3(cursor, context, readEagle3(name).prefix);
    const logits: number[] = [];
    for (const depth of [1, 2, 3, 4]) logits.push(...(await context.chain(depth, GREEDY).logits.read()));
    const expected = goldenTensor(name, 'chain_logits_norm_before_residual.f32');
    expect(relativeError(logits, expected)).toBeLessThan(TOLERANCE);
  });
});

test('a layer with a window: a tree of width 1 is the greedy chain', async () => {
  const gpu = await testGpu();
  using target = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
  const window = { use_sliding_window: true, sliding_window: 4, max_window_layers: 0 };
  using drafter = await loadDrafter(
    gpu,
    tinyCheckpoint({ config: { ...TINY_EAGLE3, ...window }, vectors: EVERY_SECOND }),
    target,
  );
  if (drafter.kind !== 'eagle3') throw new Error(drafter.kind);
  using cursor = await target.open({ capacity: 64, tapLayers: drafter.tapLayers });
  using context = await drafter.open({ capacity: 64 });
  const prefix = Array.from({ length: 20 }, (_, i) => (7 * i) % 50);
  const anchor = await prefillEagle3(cursor, context, prefix);
  const depth = 8;
  const drafts = chain([anchor, ...context.chain(depth, GREEDY).tokens]);
  const { tokens } = await cursor.forward(drafts).verify(null, GREEDY);
  cursor.rewind(prefix.length);
  const tree = context.tree(anchor, { depth, width: 1, nodes: depth });
  expect((await cursor.forward(tree).verify(null, GREEDY)).tokens).toEqual(tokens);
});

describe.skipIf(noShared).each(['all', 'baseline'] as const)('EAGLE-3, %s features', (features) => {
  test.each(['eagle3-tiny', 'eagle3-tiny-good'])('%s', async (name) => {
    await checkEagle3(await testGpu(features), name);
  });

  test('sampled: trees commit what plain decoding draws; chains have distributions over the whole vocabulary', async () => {
    const gpu = await testGpu(features);
    const { prefix } = readEagle3('eagle3-tiny-good');
    using target = await loadShared(gpu, EAGLE3_TARGET);
    using drafter = await loadEagle3(gpu, 'eagle3-tiny-good', target);
    const sampling: Sampling = { temperature: 0.8, topK: 0, topP: 0.95, minP: 0, seed: 3 };
    using plain = await target.open({ capacity: 128 });
    const tokens: number[] = [];
    for (let pass = await plain.extend(prefix); tokens.length < 24; ) {
      tokens.push(((await pass.draw(0, sampling).read())[0] as Choice).token);
      pass = plain.forward(chain(tokens.slice(-1)));
      pass.accept([0]);
    }
    for (const nodes of [8, 20]) {
      const grow: Propose = (cursor, anchor) => cursor.tree(anchor, { depth: 4, width: 3, nodes });
      expect((await runEagle3(target, drafter, prefix, 24, grow, sampling)).tokens).toEqual(tokens);
    }
    const drawn: Propose = (cursor, anchor) => {
      const { tokens, distributions } = cursor.chain(4, { ...sampling, seed: sampling.seed ^ 0x9e3779b9 });
      return { tree: chain([anchor, ...tokens]), distributions };
    };
    const sampled = await runEagle3(target, drafter, prefix, 24, drawn, sampling);
    expect(sampled.drafts.flat().every((token) => drafter.ids.includes(token))).toBe(true);
    expect(sampled.lengths.some((length) => length > 1)).toBe(true);
  });

  test('the output of the layer over the prompt', async () => {
    const gpu = await testGpu(features);
    const { prefix, prefill_tokens: tokens } = readEagle3('eagle3-tiny');
    using target = await loadShared(gpu, EAGLE3_TARGET);
    using drafter = await loadEagle3(gpu, 'eagle3-tiny', target);
    const expected = goldenTensor('eagle3-tiny', 'prefill_out.f32');
    const { scratch, architecture } = drafter.network;
    const { hidden } = architecture.sizes;
    // All rows of a draft's pass but the first, which the draft has taken; and of 17 the last alone, because of the 16
    // before it, which wait no longer, keys and values are enough.
    for (const [count, first, end] of [
      [16, 1, 15],
      [17, 16, 17],
    ] as const) {
      using cursor = await target.open({ capacity: 32, tapLayers: drafter.tapLayers });
      using context = await drafter.open({ capacity: 32 });
      await prefillEagle3(cursor, context, prefix.slice(0, count));
      expect(prefix.concat(tokens.slice(-1))).toEqual(tokens);
      context.chain(1, GREEDY);
      const rows = end - first;
      const data = gpu.submission.read(rowsOf(scratch.stream, rows, first % 16));
      gpu.flush();
      const wanted = expected.slice(first * hidden, end * hidden);
      expect(relativeError(unpad(await data, rows, hidden), wanted)).toBeLessThan(TOLERANCE);
    }
  });
});
