// Drafters as GGUF: the goldens repackaged give the same numbers, and files of another kind are refused by name.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OutriderError } from '../../base/errors.ts';
import type { Gpu } from '../../gpu/device.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { type GgufDrafterOptions, ggufDrafter } from '../../testing/files/gguf-drafter.ts';
import { chain, GREEDY, loadShared, openGolden, relativeError } from '../../testing/goldens/golden.ts';
import { checkDFlash } from '../../testing/goldens/golden-dflash.ts';
import { checkDSpark } from '../../testing/goldens/golden-dspark.ts';
import { checkEagle3 } from '../../testing/goldens/golden-eagle3.ts';
import { noShared } from '../../testing/goldens/shared.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import { readDrafter } from '../families/families.ts';
import { loadDrafter } from '../load/load-drafter.ts';
import type { Transformer } from '../transformer.ts';

/** What every file can do without: the target has them. */
const SHARED = ['token_embd.weight', 'output.weight'];

describe.skipIf(noShared)('drafters as GGUF', () => {
  test('dflash-tiny-good', async () => {
    await checkDFlash(await testGpu(), 'dflash-tiny-good', await ggufDrafter('dflash-tiny-good'));
  });

  test.each([
    ['dspark-tiny-good', []],
    ['dspark-tiny-good', SHARED],
    ['dspark-tiny-speculators', ['token_embd.weight']],
  ])('%s without %j', async (golden, without) => {
    const repackaged = (name: string, config: string) => ggufDrafter(name, { config, without });
    await checkDSpark(await testGpu(), golden, { repackaged });
  });

  test('eagle3-tiny-good', async () => {
    await checkEagle3(await testGpu(), 'eagle3-tiny-good', await ggufDrafter('eagle3-tiny-good'));
  });

  test('eagle3 with an embedding, the older key of its taps, and divisors of 1', async () => {
    const gguf = await ggufDrafter('eagle3-tiny-speculators', {
      metadata: { 'eagle3.target_layers': undefined, 'eagle3.extract_layers': [2, 4, 5] },
      others: [
        {
          name: 'rope_freqs.weight',
          dimensions: [8],
          type: 0,
          data: new Uint8Array(new Float32Array(8).fill(1).buffer),
        },
      ],
    });
    await checkEagle3(await testGpu(), 'eagle3-tiny-speculators', gguf);
  });

  describe('one target', () => {
    let gpu: Gpu;
    let target: Transformer;
    beforeAll(async () => {
      gpu = await testGpu();
      target = await loadShared(gpu, 'golden/qwen3-tiny-deep');
    }, 600_000);
    afterAll(() => target[Symbol.dispose]());

    const load = async (name: string, options: GgufDrafterOptions | null, precision?: Precision) => {
      using checkpoint = await openGolden(name, options ? await ggufDrafter(name, options) : undefined);
      return await loadDrafter(gpu, checkpoint, target, { precision });
    };
    const logits = async (...given: Parameters<typeof load>): Promise<Float32Array> => {
      using drafter = await load(...given);
      if (drafter.kind !== 'dspark') throw new Error(drafter.kind);
      using cursor = await target.open({ capacity: 64, tapLayers: drafter.tapLayers });
      using block = await drafter.open({ capacity: 64 });
      const tokens = Array.from({ length: 16 }, (_, i) => (i * 37) % 331);
      block.append(
        cursor.forward(chain(tokens)),
        tokens.map((_, i) => i),
      );
      return block.draft(5, 7, GREEDY).logits.read();
    };

    test('matrices of 16 and 8 bits', async () => {
      const name = 'dspark-tiny-good';
      expect(await logits(name, { type: 'F16' })).toEqual(await logits(name, null, 'f16'));
      const exact = await logits(name, null);
      expect(relativeError(await logits(name, { type: 'Q8_0' }), exact)).toBeLessThan(0.3);
    });

    test('a matrix of one row as llama.cpp’s own tools write it, with one dimension', async () => {
      const data = new Uint8Array(4 * 80);
      using drafter = await load('dspark-tiny-good', {
        without: ['conf_proj.weight'],
        others: [{ name: 'conf_proj.weight', dimensions: [80], type: 0, data }],
      });
      expect(drafter).toMatchObject({ kind: 'dspark', confident: true });
    });

    test('causal layers, and windows that are not', async () => {
      const name = 'dspark-tiny-good';
      const windowed = {
        'dflash.attention.sliding_window': 64,
        'dflash.attention.sliding_window_pattern': [true, false],
      };
      const plain = await logits(name, {});
      const key = 'dflash.attention.causal';
      // A window wider than the text changes nothing by itself.
      expect(await logits(name, { metadata: { ...windowed, [key]: undefined } })).toEqual(plain);
      const causal = await logits(name, { metadata: { [key]: true } });
      // The first row of a causal block sees the anchor alone.
      expect(causal).not.toEqual(plain);
    });

    test.each<[string, GgufDrafterOptions['metadata'], string]>([
      ['dspark-tiny-good', { 'general.architecture': 'dspark' }, "the architecture dspark is a fork's"],
      ['dspark-tiny-good', { 'general.architecture': 'dflash-draft' }, "the architecture dflash-draft is a fork's"],
      ['dspark-tiny-good', { 'dflash.selector_top_k': 16 }, 'the drafter is a DFlash2 (dflash.selector_top_k)'],
      ['dspark-tiny-good', { 'dflash.target_layers': undefined }, 'lacks dflash.target_layers'],
      ['dspark-tiny-good', { 'tokenizer.ggml.mask_token_id': undefined }, 'lacks tokenizer.ggml.mask_token_id'],
      ['dspark-tiny-good', { 'dflash.target_layers': [2, 5, 9] }, 'reads layer 8 of its target'],
      ['dspark-tiny-good', { 'dflash.logit_scale': 2 }, 'dflash.logit_scale is not known'],
      ['dspark-tiny-good', { 'dflash.attention.sliding_window': 8 }, 'sliding_window_pattern names 0 layers'],
      ['eagle3-tiny', { 'eagle3.target_hidden_size': 128 }, 'target_hidden_size is 128'],
      ['eagle3-tiny', { 'eagle3.norm_before_fc': true }, 'tensor input_norm.weight is missing'],
    ])('%s with %j is refused', async (name, metadata = {}, message) => {
      const error = await load(name, { metadata }).then(
        () => null,
        (reason: OutriderError) => reason,
      );
      expect(error?.message).toContain(message);
    });
  });

  test('embed_requires_grad: the file’s own embedding', async () => {
    const name = 'eagle3-tiny-speculators';
    const gpu = await testGpu();
    using target = await loadShared(gpu, 'golden/qwen3-tiny-deep');
    using checkpoint = await openGolden(name);
    using own = await loadDrafter(
      gpu,
      { ...checkpoint, config: { ...checkpoint.config, embed_requires_grad: true } },
      target,
    );
    expect(own.family).toBe('eagle3');
  });

  test('a head of the target, and a map that says no differences', async () => {
    using checkpoint = await openGolden(
      'eagle3-tiny',
      await ggufDrafter('eagle3-tiny', { without: ['output.weight', 'd2t'] }),
    );
    const read = readDrafter({ ...checkpoint.config, vocab_size: 331 });
    expect(read.architecture).toMatchObject({ head: 'target', sizes: { vocabulary: 331 } });
    const gpu = await testGpu();
    using target = await loadShared(gpu, 'golden/qwen3-tiny-deep');
    using drafter = await loadDrafter(gpu, checkpoint, target);
    if (drafter.kind !== 'eagle3') throw new Error(drafter.kind);
    expect(drafter.ids).toEqual(Array.from({ length: 331 }, (_, i) => i));
  });
});
