// DSpark drafters of every kind and layout against the authors' code.
import { describe, expect, test } from 'vitest';
import { meter } from '../../gpu/meter.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { chain, GREEDY, loadShared, openGolden } from '../../testing/goldens/golden.ts';
import { checkDSpark } from '../../testing/goldens/golden-dspark.ts';
import { noShared } from '../../testing/goldens/shared.ts';
import type { Checkpoint, RowBlock } from '../../weights/checkpoint.ts';
import { loadDrafter } from '../load/load-drafter.ts';

/** Elements i and i + half of a head side by side. */
const adjacent = (headDim: number): number[] =>
  Array.from({ length: headDim }, (_, i) => (i % 2 === 0 ? i / 2 : (headDim + i - 1) / 2));

/** The authors' drafter as Liquid AI publishes one: RoPE rotates adjacent elements, and taps lie in `dflash_config`. */
const asLiquid = (checkpoint: Checkpoint): Checkpoint => {
  const {
    mask_token_id,
    target_layer_ids,
    num_target_layers,
    confidence_head_with_markov: _,
    ...config
  } = checkpoint.config;
  const order = adjacent(config.head_dim as number);
  const reorder = (block: RowBlock): RowBlock => {
    if (!/\.(q|k)_(proj|norm)\.weight$/.test(block.tensor.name)) return block;
    const values = block.decode();
    const width = block.tensor.shape.length === 2 ? (block.tensor.shape[1] as number) : 1;
    const moved = values.map((__, at) => {
      const row = Math.floor(at / width);
      const within = row % order.length;
      return values[(row - within + (order[within] as number)) * width + (at % width)] as number;
    });
    return { ...block, decode: () => moved, repacker: () => undefined };
  };
  return {
    ...checkpoint,
    config: {
      ...config,
      architectures: ['Lfm2DSparkDraftModel'],
      num_anchors: undefined,
      rope_is_neox_style: false,
      dflash_config: { mask_token_id, target_layer_ids, num_target_layers },
    },
    async *stream(options) {
      for await (const block of checkpoint.stream(options)) yield reorder(block);
    },
  };
};

describe.skipIf(noShared)('DSpark', () => {
  test.each(['dspark-tiny', 'dspark-tiny-good', 'dspark-tiny-gated', 'dspark-tiny-rnn', 'dspark-tiny-speculators'])(
    '%s',
    async (name) => {
      await checkDSpark(await testGpu('all'), name);
    },
  );

  test.each(['dspark-tiny', 'dspark-tiny-good'])('%s in the layout of LFM2 drafters', async (name) => {
    await checkDSpark(await testGpu('all'), name, { changed: asLiquid });
  });

  test('dspark-tiny-rnn, baseline features', async () => {
    await checkDSpark(await testGpu('baseline'), 'dspark-tiny-rnn');
  });

  test('a round with a limit is one submit and one readback', async () => {
    const gpu = await testGpu('all');
    using target = await loadShared(gpu, 'golden/qwen3-tiny-deep');
    using checkpoint = await openGolden('dspark-tiny-good');
    using drafter = await loadDrafter(gpu, checkpoint, target);
    if (drafter.kind !== 'dspark') throw new Error(drafter.kind);
    using cursor = await target.open({ capacity: 64, tapLayers: drafter.tapLayers });
    using block = await drafter.open({ capacity: 64 });
    const pass = cursor.forward(chain([1, 2, 3]));
    block.append(pass, [0, 1, 2]);
    pass.accept([0, 1, 2]);
    gpu.flush();
    const count = meter(gpu);
    const drafted = block.draft(5, 7, GREEDY, { confidence: true });
    // No confidence reaches 1, so no draft is verified: what remains is a plain round.
    const limit = drafted.limit({ rule: 'each', threshold: 1 });
    const verdict = await cursor.forward({ ...chain([5, ...drafted.tokens]), limit }).verify(null, GREEDY);
    expect(count()).toMatchObject({ submits: 1, readbacks: 1 });
    expect(verdict).toMatchObject({ tokens: [5], parents: [-1], path: [0], probabilities: [], source: 'bonus' });
  });
});
