// A drafter and the target that it is loaded for. Pairs that do not fit are refused with the reason; pairs that fit run
// at their stated cost, at every precision, and free all their memory.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OutriderError } from '../../base/errors.ts';
import type { Gpu } from '../../gpu/device.ts';
import { meter } from '../../gpu/meter.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { chain, GREEDY, loadShared, relativeError } from '../../testing/goldens/golden.ts';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { EVERY_SECOND, TINY_EAGLE3, tinyCheckpoint } from '../../testing/toys/tiny.ts';
import type { Checkpoint } from '../../weights/checkpoint.ts';
import { folderSource } from '../../weights/files/folder.ts';
import { openCheckpoint } from '../../weights/open.ts';
import { defaultTaps } from '../families/block-drafter.ts';
import type { BlockDrafter, FeatureDrafter } from '../interface.ts';
import type { Transformer } from '../transformer.ts';
import type { LoadModelOptions, LoadProgress } from './checkpoint-tensors.ts';
import { loadDrafter } from './load-drafter.ts';
import { loadModel } from './load-model.ts';

type Json = Readonly<Record<string, unknown>>;

/** A golden drafter's checkpoint with some fields of its config replaced; undefined leaves a field out. */
const edited = async (name: string, change: Json, config = 'config.json'): Promise<Checkpoint> => {
  const checkpoint = await openCheckpoint(await folderSource(shared('golden', name)));
  const base: Json =
    config === 'config.json' ? checkpoint.config : JSON.parse(readFileSync(shared('golden', name, config), 'utf8'));
  const fields = Object.entries({ ...base, ...change }).filter(([, value]) => value !== undefined);
  return {
    ...checkpoint,
    name,
    config: Object.fromEntries(fields),
    stream: (options) => checkpoint.stream(options),
    [Symbol.dispose]: () => checkpoint[Symbol.dispose](),
  };
};

test('the maps of a draft vocabulary: what contradicts itself is refused, and all memory is given back', async () => {
  const gpu = await testGpu();
  using target = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
  const load = async (d2t: Readonly<Record<number, number>>, t2d: Readonly<Record<number, number>>) => {
    const vectors = { d2t: Object.assign([...EVERY_SECOND.d2t], d2t), t2d: Object.assign([...EVERY_SECOND.t2d], t2d) };
    using checkpoint = tinyCheckpoint({ config: TINY_EAGLE3, vectors });
    return await loadDrafter(gpu, checkpoint, target);
  };
  (await load({}, {}))[Symbol.dispose]();
  const before = gpu.bytes;
  for (const [d2t, t2d, message] of [
    [{ 5: 45 }, {}, 'd2t: entry 5 is token 50, which is outside the vocabulary of 50'],
    [{ 0: -1 }, {}, 'd2t: entry 0 is token -1, which is outside the vocabulary of 50'],
    [{ 5: 3 }, {}, 'd2t: entries 4 and 5 are both token 8'],
    [{ 25: 0 }, {}, 'd2t: expected [25], found [26]'],
    [{ 5: 6 }, {}, 't2d has token 10, and d2t lacks it'],
    [{}, { 4: 0 }, 'd2t has token 4, and t2d lacks it'],
    [{}, { 7: 1 }, 't2d has token 7, and d2t lacks it'],
    [{}, { 50: 1 }, 't2d: expected [50], found [51]'],
  ] as const) {
    await expect(load(d2t, t2d), message).rejects.toMatchObject({
      code: 'bad-checkpoint',
      message: expect.stringContaining(message),
    });
    expect(gpu.bytes).toBe(before);
  }
});

describe.skipIf(noShared)('a drafter and its target', () => {
  let gpu: Gpu;
  let target: Transformer;
  beforeAll(async () => {
    gpu = await testGpu();
    target = await loadShared(gpu, 'golden/qwen3-tiny-deep');
  }, 600_000);
  afterAll(() => target[Symbol.dispose]());

  const load = async (name: string, change: Json = {}, options: LoadModelOptions = {}, config = 'config.json') => {
    using checkpoint = await edited(name, change, config);

    return await loadDrafter(gpu, checkpoint, target, options);
  };
  const dflash = async (...given: Parameters<typeof load>): Promise<BlockDrafter> => {
    const drafter = await load(...given);
    if (drafter.kind !== 'dflash') throw new Error(drafter.kind);
    return drafter;
  };
  const eagle3 = async (...given: Parameters<typeof load>): Promise<FeatureDrafter> => {
    const drafter = await load(...given);
    if (drafter.kind !== 'eagle3') throw new Error(drafter.kind);
    return drafter;
  };

  const own = { mask_token_id: 330, target_layer_ids: [1, 3, 5] };
  test.each([
    ['dflash-tiny', { hidden_size: 128 }, 'bad-request', 'a target of width 128; this target has 64'],
    ['dflash-tiny', { vocab_size: 330 }, 'vocabulary-mismatch', 'a vocabulary of 330; this target has 331'],
    ['eagle3-tiny', { vocab_size: 330 }, 'vocabulary-mismatch', 'a vocabulary of 330; this target has 331'],
    ['dflash-tiny', { num_target_layers: 36 }, 'bad-request', 'a target of 36 layers; this target has 8'],
    [
      'dflash-tiny',
      { dflash_config: { ...own, target_layer_ids: [1, 3, 8] } },
      'bad-request',
      'reads layer 8 of its target; this target has layers 0 to 7',
    ],
    [
      'dflash-tiny',
      { dflash_config: { ...own, mask_token_id: 331 } },
      'bad-request',
      "mask_token_id 331 is outside the target's embedding of 331 rows",
    ],
    ['dflash-tiny', { dflash_config: { target_layer_ids: [1] } }, 'bad-checkpoint', 'mask_token_id is missing'],
    ['dflash-tiny', { dflash_config: undefined }, 'bad-checkpoint', 'dflash_config is missing'],
    ['dflash-tiny', { block_size: 0 }, 'bad-checkpoint', 'block_size is 0'],
    ['dflash-tiny', { block_size: 1 }, 'bad-checkpoint', 'a block_size of 1 leaves nothing to draft'],
    ['dflash-tiny', { causal: true }, 'bad-checkpoint', 'unknown field causal'],
    [
      'dflash-tiny',
      { dflash_config: { ...own, target_layer_ids: [1, 3] } },
      'bad-checkpoint',
      'fc.weight: expected [64, 128], found [64, 192]',
    ],
    ['eagle3-tiny', { draft_vocab_size: 64 }, 'bad-checkpoint', 'lm_head.weight: expected [64, 64], found [128, 64]'],
    ['eagle3-tiny', { num_hidden_layers: 2 }, 'bad-checkpoint', 'num_hidden_layers is 2; an EAGLE-3 drafter has 1'],
    [
      'dflash-tiny',
      { architectures: ['Qwen3ForCausalLM'] },
      'bad-checkpoint',
      'Qwen3ForCausalLM is a language model: it is no drafter, and has no MTP layer that Outrider runs',
    ],
  ])('%s with %j is refused', async (name, change, code, message) => {
    const before = gpu.bytes;
    const error = await load(name, change).then(
      () => null,
      (reason: OutriderError) => reason,
    );
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(gpu.bytes).toBe(before);
  });

  test('a GGUF drafter of more tokens than the target has', async () => {
    const folder = resolve(import.meta.dirname, '../../../public/models/smollm2-eagle3');
    using checkpoint = await openCheckpoint(await folderSource(folder));
    const message = expect.stringContaining('drafts 8192 tokens; the vocabulary of this target has 331');
    await expect(loadDrafter(gpu, checkpoint, target)).rejects.toMatchObject({ code: 'bad-request', message });
  });

  test('the layouts of config.json that are published', async () => {
    using older = await dflash('dflash-tiny', {}, {}, 'config.v4.json');
    expect(older).toMatchObject({ blockSize: 8, tapLayers: [1, 3, 5] });
    const inside = { block_size: undefined, dflash_config: { ...own, block_size: 6 } };
    using newer = await dflash('dflash-tiny', inside);
    expect(newer.blockSize).toBe(6);
    // A pass has 16 rows; a larger block than it was trained for is not safe, a smaller one is.
    using large = await dflash('dflash-tiny', { block_size: 33 });
    expect(large.blockSize).toBe(16);
  });

  test('taps that no config names', () => {
    expect(defaultTaps(36, 5)).toEqual([1, 9, 17, 25, 33]);
    expect(defaultTaps(24, 5)).toEqual([1, 6, 11, 16, 21]);
    expect(defaultTaps(28, 5)).toEqual([1, 7, 13, 19, 25]);
    expect(defaultTaps(7, 1)).toEqual([3]);
    expect(defaultTaps(7, 3)).toEqual([1, 2, 4]); // 2.5 goes to the even neighbour
  });

  test('blocks and contexts that do not fit', async () => {
    using drafter = await dflash('dflash-tiny');
    using cursor = await target.open({ capacity: 64, tapLayers: [1, 3, 5] });
    using untapped = await target.open({ capacity: 64, tapLayers: [1, 3] });
    using block = await drafter.open({ capacity: 20 });
    for (const size of [0, 9, 33, 1.5]) expect(() => block.draft(1, size)).toThrow(`a block of ${size}`);
    const pass = cursor.forward(chain(Array(16).fill(1)));
    const every = Array.from({ length: 16 }, (_, i) => i);
    block.append(pass, every);
    expect(() => block.append(pass, every)).toThrow('16 rows and 16 more exceed the 20');
    expect(() => block.draft(1, 5)).toThrow('16 rows and 5 more exceed the 20');
    expect(() => block.draft(331, 4)).toThrow('token 331 is outside the vocabulary of 331');
    expect(() => block.append(pass, [16])).toThrow('row 16 of 16');
    // A block of one has nothing to draft, and runs.
    for (const size of [1, 4]) expect(block.draft(1, size).rows).toBe(size);
    expect(() => block.append(untapped.forward(chain([1])), [0])).toThrow(
      'the drafter reads layers 1, 3, 5; this pass keeps 1, 3',
    );
    expect(() => block.rewind(17)).toThrow('rewind to 17: the cursor holds 16 rows');
    await expect(drafter.open({ capacity: 513 })).rejects.toThrow('the context of this drafter is 512');
  });

  test('EAGLE-3: chains and trees that do not fit', async () => {
    using drafter = await eagle3('eagle3-tiny');
    using cursor = await target.open({ capacity: 64, tapLayers: drafter.tapLayers });
    using features = await drafter.open({ capacity: 20 });
    expect(() => features.chain(1, GREEDY)).toThrow('the context is empty');
    const every = Array.from({ length: 16 }, (_, i) => i);
    features.append(cursor.forward(chain(Array(16).fill(1))), every, Array(16).fill(1));
    expect(() => features.chain(0, GREEDY)).toThrow('a chain of 0 drafts');
    expect(() => features.chain(6, GREEDY)).toThrow('16 rows and 5 more exceed the 20');
    const tree = (depth: number, width: number, nodes: number) => () => features.tree(1, { depth, width, nodes });
    expect(tree(0, 3, 4)).toThrow('a tree of depth 0');
    expect(tree(11, 3, 4)).toThrow('a tree of depth 11 and width 3; the deepest of it is 10');
    expect(tree(2, 17, 4)).toThrow('the most is 16');
    expect(tree(5, 3, 64)).toThrow('the most is 39');
    expect(tree(9, 9, 10)).toThrow('a tree of depth 9 and width 9; the deepest of it is 8');
    expect(drafter.deepest(9)).toBe(8);
    const first = features.tree(1, { depth: 2, width: 3, nodes: 4 });
    features.tree(1, { depth: 2, width: 3, nodes: 4 });
    expect(() => cursor.forward(first)).toThrow('not on this device any more');
    features.rewind(12);
    expect(() => features.chain(1, GREEDY)).toThrow('was rewound');
  });

  test('a context that was rewound and appended again is the same, in f16 nearly', async () => {
    using drafter = await dflash('dflash-tiny-good');
    const tokens = Array.from({ length: 40 }, (_, i) => (i * 37) % 331);
    using cursor = await target.open({ capacity: 64, tapLayers: drafter.tapLayers });
    const scores: Float32Array[] = [];
    for (const { cache, rewind } of [
      { cache: 'f32', rewind: [] },
      { cache: 'f32', rewind: [39, 33, 16, 3, 0] },
      { cache: 'f16', rewind: [] },
    ] as const) {
      using block = await drafter.open({ capacity: 64, cache });
      const append = async (from: number) => {
        cursor.rewind(from);
        await cursor.extend(tokens.slice(from), {
          chunk: 7,
          onPass: (pass) =>
            block.append(
              pass,
              Array.from({ length: pass.rows }, (_, i) => i),
            ),
        });
      };
      await append(0);
      for (const length of rewind) {
        if (length === 16) block.draft(1, 8); // what a draft left in the cache is overwritten
        block.rewind(length);
        await append(length);
      }
      scores.push(await block.draft(5, 8).logits.read());
    }
    expect(scores[1]).toEqual(scores[0]);
    expect(scores[2]).not.toEqual(scores[0]);
    expect(relativeError(scores[2] as Float32Array, scores[0] as Float32Array)).toBeLessThan(3e-2);
  });

  test('a window hides context, and nothing else', async () => {
    const windowed = { use_sliding_window: true, sliding_window: 12, max_window_layers: 0 };
    const types = { layer_types: ['sliding_attention', 'full_attention'] };
    using drafter = await dflash('dflash-tiny-good', { ...windowed, ...types });
    using everywhere = await dflash('dflash-tiny-good', {
      ...windowed,
      layer_types: ['sliding_attention', 'sliding_attention'],
    });
    const scored = async (by: BlockDrafter, tokens: readonly number[]): Promise<Float32Array> => {
      using cursor = await target.open({ capacity: 64, tapLayers: by.tapLayers });
      using block = await by.open({ capacity: 64 });
      const pass = cursor.forward(chain(tokens));
      block.append(
        pass,
        tokens.map((_, i) => i),
      );
      return block.draft(5, 4).logits.read();
    };
    // Context rows 0 … 13 and a block at 14: with 12 positions its first row sees from row 3 on.
    const tokens = Array.from({ length: 14 }, (_, i) => i + 20);
    const [some, all] = [await scored(drafter, tokens), await scored(everywhere, tokens)];
    expect(all).not.toEqual(some);
    using cursor = await target.open({ capacity: 64, tapLayers: everywhere.tapLayers });
    const pass = cursor.forward(chain(tokens));
    const hidden = await everywhere.open({ capacity: 64 });
    // The first three rows replaced by others: out of every row's sight.
    hidden.append(pass, [9, 9, 9, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    expect(await hidden.draft(5, 4).logits.read()).toEqual(all);
    hidden.rewind(0);
    hidden.append(pass, [0, 1, 2, 9, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    expect(await hidden.draft(5, 4).logits.read()).not.toEqual(all);
    hidden[Symbol.dispose]();
  });

  test('what a round of DFlash costs', async () => {
    using drafter = await dflash('dflash-tiny');
    using cursor = await target.open({ capacity: 64, tapLayers: drafter.tapLayers });
    using block = await drafter.open({ capacity: 64 });
    const pass = cursor.forward(chain([1, 2, 3]));
    gpu.flush();
    const count = meter(gpu);
    block.append(pass, [0, 1, 2]);
    expect(count().dispatches).toBe(0);
    const scores = block.draft(5, 8);
    const layers = 2;
    // Gathering, projection and norm; then keys and values. Embedding, ten a layer, norm and head.
    expect(count().dispatches).toBe(3 + 2 * layers + (10 * layers + 3));
    const tokens = Array.from({ length: 7 }, (_, j) => scores.draw(j + 1, GREEDY).token);
    pass.accept([0, 1, 2]);
    await cursor.forward(chain([5, ...tokens])).verify(null, GREEDY);
    // Seven drafts drawn at once; the target, whose norms leave the taps, its draws, and the verdict.
    const dispatches = 1 + (10 * target.layers + 3) + 1 + 1;
    expect(count()).toEqual({ dispatches, submits: 1, readbacks: 1, readbackBytes: 16 + 8 * 32 });
  });

  test('every precision, near f32 as a language model is', async () => {
    const tokens = Array.from({ length: 20 }, (_, i) => (i * 37) % 331);
    const scores = new Map<string, Float32Array>();
    for (const precision of ['f32', 'f16', 'q8', 'q4'] as const) {
      using drafter = await dflash('dflash-tiny-good', {}, { precision });
      using cursor = await target.open({ capacity: 64, tapLayers: drafter.tapLayers });
      using block = await drafter.open({ capacity: 64 });
      await cursor.extend(tokens, {
        onPass: (pass) =>
          block.append(
            pass,
            Array.from({ length: pass.rows }, (_, i) => i),
          ),
      });
      scores.set(precision, (await block.draft(5, 8).logits.read()).slice(target.vocabulary));
    }
    const error = (precision: string) =>
      relativeError(scores.get(precision) as Float32Array, scores.get('f32') as Float32Array);
    expect(error('f16')).toBeLessThan(3e-2);
    expect(error('q8')).toBeLessThan(0.3);
    expect(error('q4')).toBeGreaterThan(error('q8'));
  });

  test('progress, abort, and what is freed', async () => {
    for (const name of ['dflash-tiny', 'eagle3-tiny']) {
      const before = gpu.bytes;
      const seen: LoadProgress[] = [];
      const drafter = await load(name, {}, { onProgress: (progress) => seen.push(progress) });
      expect(seen.filter(({ phase }) => phase === 'upload').at(-1)).toMatchObject({ loaded: seen.at(-1)?.total });
      const cursor = await drafter.open({ capacity: 32 });
      expect(gpu.bytes - before).toBeGreaterThan(drafter.bytes);
      drafter[Symbol.dispose]();
      expect(gpu.bytes).toBe(before);
      expect(() => cursor.rewind(0)).toThrow('this drafter was disposed');
      cursor[Symbol.dispose]();
      const abort = new AbortController();
      const onProgress = ({ phase }: LoadProgress) => phase === 'upload' && abort.abort();
      await expect(load(name, {}, { signal: abort.signal, onProgress })).rejects.toMatchObject({ code: 'aborted' });
      expect(gpu.bytes).toBe(before);
    }
  });

  test('a drafter does not outlive its target', async () => {
    const lender = await loadShared(gpu, 'golden/qwen3-tiny-deep', { batchInvariant: true });
    using checkpoint = await edited('dflash-tiny', {});
    using drafter = await loadDrafter(gpu, checkpoint, lender);
    if (drafter.kind !== 'dflash') throw new Error(drafter.kind);
    using block = await drafter.open({ capacity: 32 });
    lender[Symbol.dispose]();
    expect(() => block.draft(1, 4)).toThrow('this model was disposed');
  });
});
