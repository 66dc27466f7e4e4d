// Loading a language model: what is wrong with a checkpoint is named, a load that fails leaves nothing on the device,
// and progress counts every byte.
import { describe, expect, test } from 'vitest';
import type { OutriderError } from '../../base/errors.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { type TinyOptions, tinyCheckpoint } from '../../testing/toys/tiny.ts';
import type { Checkpoint, TensorInfo } from '../../weights/checkpoint.ts';
import type { LoadModelOptions, LoadProgress } from './checkpoint-tensors.ts';
import { loadModel } from './load-model.ts';

const UP = 'model.layers.1.mlp.up_proj.weight';

/** The error of a load, and what it left on the device. */
const failure = async (tiny: TinyOptions, options: LoadModelOptions = {}) => {
  const gpu = await testGpu();
  const before = gpu.bytes;
  const error = await loadModel(gpu, tinyCheckpoint(tiny), options).then(
    () => {
      throw new Error('the load succeeded');
    },
    (reason: OutriderError) => reason,
  );
  return { error, left: gpu.bytes - before };
};

const edited = (change: (tensors: Map<string, TensorInfo>) => void) => failure({ edit: change });

describe('a bad checkpoint is named', () => {
  test('missing tensor', async () => {
    const { error, left } = await edited((tensors) => tensors.delete(UP));
    expect(error).toMatchObject({ code: 'bad-checkpoint', message: `tensor ${UP} is missing` });
    expect(left).toBe(0);
  });

  test('a body without its head, as models for embeddings are', async () => {
    const { error } = await edited((tensors) => {
      for (const [name, tensor] of [...tensors]) {
        tensors.delete(name);
        tensors.set(name.replace(/^model\./, ''), tensor);
      }
    });
    expect(error).toMatchObject({ message: 'tensor model.embed_tokens.weight is missing' });
    expect(error?.hint).toContain('body of a model without its head');
  });

  test('wrong shape, with both shapes', async () => {
    const { error } = await edited((tensors) => {
      tensors.set(UP, { ...(tensors.get(UP) as TensorInfo), shape: [32, 64] });
    });
    expect(error).toMatchObject({ code: 'bad-checkpoint', message: `${UP}: expected [64, 32], found [32, 64]` });
  });

  test('unknown tensor', async () => {
    const { error } = await edited((tensors) => {
      tensors.set('adapter.weight', { name: 'adapter.weight', type: 'F32', shape: [4], bytes: 16 });
    });
    expect(error).toMatchObject({ code: 'bad-checkpoint', message: 'unknown tensor adapter.weight' });
  });

  test('cached frequencies are let through', async () => {
    const name = 'model.layers.0.self_attn.rotary_emb.inv_freq';
    const edit = (tensors: Map<string, TensorInfo>) => tensors.set(name, { name, type: 'F32', shape: [8], bytes: 32 });
    using model = await loadModel(await testGpu(), tinyCheckpoint({ edit }), { batchInvariant: true });
    expect(model.vocabulary).toBe(50);
  });
});

/** A checkpoint that holds the head too, though the config ties it to the embedding. */
const headed = (change: (value: number) => number): Checkpoint => {
  const [name, embedding] = ['lm_head.weight', 'model.embed_tokens.weight'];
  const values = Float32Array.from({ length: 50 * 32 }, (_, i) => Math.sin(i));
  const checkpoint = tinyCheckpoint({
    edit: (tensors) => tensors.set(name, { ...(tensors.get(embedding) as TensorInfo), name }),
  });
  return {
    ...checkpoint,
    async *stream(options) {
      for await (const block of checkpoint.stream(options)) {
        const own = block.tensor.name === name ? values.map(change) : values;
        yield [name, embedding].includes(block.tensor.name) ? { ...block, decode: () => own } : block;
      }
    },
  };
};

test.each([
  ['the embedding once more is not loaded', (value: number) => value, false],
  ['another matrix is the head', (value: number) => value + 1, true],
])('a tied head written out: %s', async (_, change, loaded) => {
  const gpu = await testGpu();
  using tied = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
  using model = await loadModel(gpu, headed(change), { batchInvariant: true });
  expect(model.bytes > tied.bytes).toBe(loaded);
});

test('a tensor of many thousand rows in another order', async () => {
  const config = { architectures: ['Ernie4_5ForCausalLM'], num_attention_heads: 128, head_dim: 128, use_bias: true };
  using model = await loadModel(await testGpu(), tinyCheckpoint({ config }), { batchInvariant: true });
  expect(model.family).toBe('ernie4_5');
});

describe('all memory is freed', () => {
  test('when the load is aborted half way', async () => {
    const abort = new AbortController();
    const onBlock = (index: number): void => {
      if (index === 8) abort.abort();
    };
    const { error, left } = await failure({ onBlock }, { signal: abort.signal });
    expect(error).toMatchObject({ code: 'aborted' });
    expect(left).toBe(0);
  });

  test('when the stream fails', async () => {
    const onBlock = (index: number): void => {
      if (index === 8) throw new Error('the network is gone');
    };
    const { error, left } = await failure({ onBlock });
    expect(error.message).toBe('the network is gone');
    expect(left).toBe(0);
  });

  test('when a model with open cursors is disposed', async () => {
    const gpu = await testGpu();
    const before = gpu.bytes;
    const model = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
    const cursor = await model.open({ capacity: 64, nodes: 64, forks: { count: 2, room: 8 }, tapLayers: [0] });
    expect(gpu.bytes - before).toBeGreaterThan(model.bytes);
    await cursor.extend([1, 2, 3]);
    model[Symbol.dispose]();
    cursor[Symbol.dispose]();
    expect(gpu.bytes).toBe(before);
    expect(() => cursor.forward({ tokens: [1], parents: [-1] })).toThrow('disposed');
    await expect(model.open()).rejects.toThrow('this model was disposed');
    expect(gpu.failure).toBeNull();
  });
});

test('a context that does not fit is an out-of-memory error, after which the device still works', async () => {
  const gpu = await testGpu();
  const config = { max_position_embeddings: 2 ** 30 };
  using model = await loadModel(gpu, tinyCheckpoint({ config }), { batchInvariant: true });
  const before = gpu.bytes;
  await expect(model.open({ capacity: 2 ** 28 })).rejects.toMatchObject({
    code: 'out-of-memory',
    message: expect.stringMatching(/^0\.keys takes 16384 MiB; this device binds at most \d+ MiB at once$/),
  });
  expect(gpu.bytes).toBe(before);
  using small = await model.open({ capacity: 16 });
  expect(await (await small.extend([3, 1])).logits.read()).toHaveLength(model.vocabulary);
});

test('what draws at random needs is compiled when it gets its memory', async () => {
  const gpu = await testGpu();
  using model = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
  const { asked } = gpu.pipelines;
  await model.keepDistributions();
  expect(gpu.pipelines.asked).toBe(asked + 2);
});

test('progress: every byte of the upload, and every pipeline', async () => {
  const seen: LoadProgress[] = [];
  const checkpoint = tinyCheckpoint();
  using model = await loadModel(await testGpu(), checkpoint, { onProgress: (progress) => seen.push(progress) });
  const last = (phase: string) => seen.filter((progress) => progress.phase === phase).at(-1);
  expect(last('upload')).toEqual({ phase: 'upload', loaded: checkpoint.bytes, total: checkpoint.bytes });
  const compiled = seen.filter(({ phase }) => phase === 'compile').map(({ loaded }) => loaded);
  expect(compiled.toSorted((a, b) => a - b)).toEqual(compiled);
  expect(compiled[0]).toBe(0);
  expect(last('compile')).toMatchObject({ loaded: last('compile')?.total });
  expect(model.batchInvariant).toBe(true);
});
