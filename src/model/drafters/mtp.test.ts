// The MTP layer of a small Qwen3.5 against arithmetic on plain arrays, from both formats of files; and what is refused.
import { afterAll, describe, expect, test } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { GREEDY, relativeError } from '../../testing/goldens/golden.ts';
import { type TinyMtpOptions, tinyMtp, tinyMtpGguf } from '../../testing/toys/tiny-mtp.ts';
import { openCheckpoint, type Source } from '../../weights/open.ts';
import { loadDrafter } from '../load/load-drafter.ts';
import { loadModel } from '../load/load-model.ts';
import { mtpReference } from './mtp.reference.ts';

const { config, tensors, source } = tinyMtp();
/** Rows of a prompt's pass are 32, and 16 taps wait: both are crossed. */
const PROMPT = Array.from({ length: 37 }, (_, i) => (i * i + 3) % 50);
const DEPTH = 4;

const target = async (gpu: Gpu) => {
  using checkpoint = await openCheckpoint(source);
  return loadModel(gpu, checkpoint, { batchInvariant: true });
};

const drafter = async (gpu: Gpu, of: Awaited<ReturnType<typeof target>>, from: Source) => {
  using checkpoint = await openCheckpoint(from);
  const loaded = await loadDrafter(gpu, checkpoint, of);
  if (loaded.kind !== 'mtp') throw new Error(loaded.kind);
  return loaded;
};

/** The logits of a greedy chain after the prompt's last token, and the target's last layer over the prompt. */
const drafted = async (gpu: Gpu, from: Source) => {
  using model = await target(gpu);
  using layer = await drafter(gpu, model, from);
  using cursor = await model.open({ capacity: 64, tapLayers: layer.tapLayers });
  using context = await layer.open({ capacity: 64 });
  const taps: Promise<Float32Array>[] = [];
  let base = 0;
  await cursor.extend(PROMPT.slice(0, -1), {
    onPass(pass) {
      const rows = Array.from({ length: pass.rows }, (_, i) => i);
      const next = rows.map((row) => PROMPT[base + row + 1] as number);
      context.append(pass, rows, next);
      taps.push(...pass.taps.map((tap) => tap.read()));
      base += pass.rows;
    },
  });
  const logits: number[] = [];
  for (let depth = 1; depth <= DEPTH; depth++) logits.push(...(await context.chain(depth, GREEDY).logits.read()));
  return { logits, taps: (await Promise.all(taps)).flatMap((tap) => [...tap]) };
};

const rowsOf = (name: string): readonly (readonly number[])[] => {
  const { shape, values } = tensors.get(name) ?? { shape: [], values: new Float32Array() };
  const columns = shape.at(-1) as number;
  return Array.from({ length: values.length / columns }, (_, i) => [
    ...values.subarray(i * columns, (i + 1) * columns),
  ]);
};

/** The same chain on plain arrays. */
const expectedAfter = (taps: readonly number[]): Float32Array => {
  const known = new Map<string, ReturnType<typeof rowsOf>>();
  const weights = (name: string) => known.get(name) ?? known.set(name, rowsOf(name)).get(name) ?? [];
  const { finalNorm, row, logits } = mtpReference(weights, {
    heads: config.num_attention_heads as number,
    keyValueHeads: config.num_key_value_heads as number,
    headDim: config.head_dim as number,
    rotated: (config.head_dim as number) / 4,
    theta: 10_000,
    epsilon: config.rms_norm_eps as number,
  });
  const hidden = config.hidden_size as number;
  let state: readonly number[] = [];
  for (let i = 0; i + 1 < PROMPT.length; i++)
    state = row(finalNorm(taps.slice(i * hidden, (i + 1) * hidden)), PROMPT[i + 1] as number);
  const chain: number[] = [];
  for (let depth = 0; depth < DEPTH; depth++) {
    const scores = logits(state);
    chain.push(...scores);
    state = row(state, scores.indexOf(Math.max(...scores)));
  }
  return Float32Array.from(chain);
};

afterAll(async () => (await testGpu()).destroy());

test.each(['all', 'baseline'] as const)('a chain of drafts, %s features', async (features) => {
  const { logits, taps } = await drafted(await testGpu(features), source);
  expect(relativeError(logits, expectedAfter(taps))).toBeLessThan(1e-4);
});

test('a GGUF of the layer alone gives the same bits', async () => {
  const gpu = await testGpu();
  expect((await drafted(gpu, tinyMtpGguf())).logits).toEqual((await drafted(gpu, source)).logits);
});

test('a file of the layer alone, given as the target, is refused by what it is and where to give it', async () => {
  using checkpoint = await openCheckpoint(tinyMtpGguf());
  await expect(loadModel(await testGpu(), checkpoint)).rejects.toMatchObject({
    code: 'bad-checkpoint',
    message: 'the checkpoint holds an MTP layer, and no other layer of its model',
    hint: expect.stringContaining('load the model as `target`, and this as `mtp`'),
  });
});

describe('refused', () => {
  const without = (name: string): TinyMtpOptions => ({ edit: (all) => all.delete(name) });
  const shared = { shape: [50, 32], values: new Float32Array(1600) };
  test.each<[string, Source, string]>([
    ['no layer', tinyMtp(without('mtp.fc.weight')).source, 'the checkpoint has no MTP layer'],
    ['a tensor missing', tinyMtp(without('mtp.norm.weight')).source, 'tensor mtp.norm.weight is missing'],
    [
      'a wrong shape',
      tinyMtp({ edit: (all) => all.set('mtp.fc.weight', { shape: [32, 32], values: new Float32Array(1024) }) }).source,
      'mtp.fc.weight: expected [32, 64], found [32, 32]',
    ],
    ['two layers', tinyMtp({ config: { mtp_num_hidden_layers: 2 } }).source, 'mtp_num_hidden_layers is 2'],
    ['its own embedding', tinyMtp({ edit: (all) => all.set('mtp.embed_tokens.weight', shared) }).source, 'of its own'],
    [
      'its own embedding, by the config',
      tinyMtp({ config: { mtp_use_dedicated_embeddings: true } }).source,
      'mtp_use_dedicated_embeddings = true is not supported',
    ],
    ['its own head in GGUF', tinyMtpGguf({ 'blk.2.nextn.shared_head_head.weight': [50, 32] }), 'of its own'],
    [
      'an unknown part',
      tinyMtpGguf({ 'blk.2.nextn.other.weight': [32] }),
      'unknown tensor mtp.blk.2.nextn.other.weight',
    ],
  ])('%s', async (_, from, message) => {
    const gpu = await testGpu();
    using model = await target(gpu);
    await expect(drafter(gpu, model, from)).rejects.toThrow(message);
  });

  test('the layer of a model with another vocabulary', async () => {
    const gpu = await testGpu();
    using model = await target(gpu);
    const other = tinyMtp({ config: { vocab_size: 49 } }).source;
    await expect(drafter(gpu, model, other)).rejects.toMatchObject({ code: 'vocabulary-mismatch' });
  });
});
