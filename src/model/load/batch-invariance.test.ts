// Batch invariance: the logits of a row have the same bits however many rows a pass has, on every golden model at every
// precision. And a device that breaks it: the check at load notices, and passes are padded.
import { describe, expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { chain, loadShared, readGolden, scoreRows } from '../../testing/goldens/golden.ts';
import { noShared } from '../../testing/goldens/shared.ts';
import { tinyCheckpoint } from '../../testing/toys/tiny.ts';
import type { Cursor, DeviceTensor, Forward, Tree } from '../interface.ts';
import { isBatchInvariant } from './batch-invariance.ts';
import { loadModel } from './load-model.ts';

/** Declarations over the same kernels: they are tried at two precisions, and without features at one. */
const DECLARED = ['gemma3-tiny', 'gemma2-tiny', 'phi3-longrope-tiny', 'smollm3-tiny', 'granite-tiny', 'olmo2-tiny'];

const MODELS = {
  'qwen3-tiny': 'qwen3-tiny',
  'llama-tiny': 'llama-tiny',
  'qwen2-tiny': 'qwen2-tiny',
  'qwen3-tiny-deep': 'qwen3-tiny-deep',
  'lfm2-tiny': 'lfm2-tiny',
  ...Object.fromEntries(DECLARED.map((name) => [name, name])),
  'qwen3_5-tiny': 'qwen3_5-tiny',
  'gguf-llama-tiny': 'gguf-llama-tiny/llama-tiny.Q8_0.gguf',
  'gguf-qwen3-tiny': 'gguf-qwen3-tiny/qwen3-tiny.F16.gguf',
};
const PRECISIONS = ['f32', 'f16', 'q8', 'q4'] as const;

/** A GGUF file is read differently, and then a model like the others: it is tried as the file has it. */
const precisionsOf = (name: string, features: 'all' | 'baseline'): readonly (typeof PRECISIONS)[number][] => {
  if (name === 'gguf-llama-tiny') return ['q8'];
  if (name === 'gguf-qwen3-tiny') return ['f16'];
  if (!DECLARED.includes(name)) return PRECISIONS;
  return features === 'all' ? ['f32', 'q8'] : ['f32'];
};

describe.skipIf(noShared).each(['all', 'baseline'] as const)(
  'chunks of 1, 2, 3, 5, 8, 16 and 32, %s features',
  (features) => {
    describe.each(Object.entries(MODELS))('%s', (name, path) => {
      test.each(precisionsOf(name, features))('%s', async (precision) => {
        const { prompt } = readGolden(name);
        const gpu = await testGpu(features);
        using model = await loadShared(gpu, `golden/${path}`, { precision, batchInvariant: true });
        using cursor = await model.open({ capacity: 64 });
        const { logits: alone } = await scoreRows(cursor, prompt, 1);
        for (const chunk of [2, 3, 5, 8, 16]) {
          cursor.rewind(0);
          expect((await scoreRows(cursor, prompt, chunk)).logits).toEqual(alone);
        }
        const long = Array.from({ length: 61 }, (_, i) => prompt[i % prompt.length] as number);
        const read = async (chunk: number): Promise<Float32Array> => {
          cursor.rewind(0);
          return await (await cursor.extend(long, { chunk })).logits.read();
        };
        expect(await read(32)).toEqual(await read(16));
      });
    });
  },
);

/** A cursor whose passes of more than `rows` rows come out one bit different, as a reassociating driver's would. */
const breaking = (cursor: Cursor, rows: number): Cursor => {
  const skew = (tensor: DeviceTensor): DeviceTensor => ({
    rows: tensor.rows,
    read: async () => {
      const values = await tensor.read();
      new Uint32Array(values.buffer)[3] = (new Uint32Array(values.buffer)[3] as number) ^ 1;
      return values;
    },
  });
  const forward = (tree: Tree): Forward => {
    const pass = cursor.forward(tree);
    return tree.tokens.length > rows ? { ...pass, logits: skew(pass.logits) } : pass;
  };
  return Object.create(cursor, { forward: { value: forward } }) as Cursor;
};

test('the check passes here, and notices one different bit at any number of rows', async () => {
  using model = await loadModel(await testGpu(), tinyCheckpoint());
  expect(model.batchInvariant).toBe(true);
  using cursor = await model.open({ capacity: 16 });
  const { vocabulary } = model;
  const check = (rows: number): Promise<boolean> => {
    cursor.rewind(0);
    const broken = breaking(cursor, rows);
    return isBatchInvariant({ forward: broken.forward, rewind: (length) => cursor.rewind(length) }, vocabulary);
  };
  expect(await check(16)).toBe(true);
  for (const rows of [1, 2, 4, 8]) expect(await check(rows)).toBe(false);
});

test('where the check fails, single rows go through the pipelines of four, and the model says so', async () => {
  const gpu = await testGpu();
  using exact = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
  using padded = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: false });
  expect(padded.batchInvariant).toBe(false);
  const tokens = [1, 2, 3, 4, 5];
  const run = async (model: typeof exact, chunk: number) => {
    using cursor = await model.open({ capacity: 16 });
    const { logits } = await scoreRows(cursor, tokens, chunk);
    const [drawn] = await (await cursor.extend([6], { chunk }))
      .draw(0, { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 })
      .read();
    return { logits, drawn, after: await cursor.forward(chain([7])).logits.read() };
  };
  expect(await run(padded, 1)).toEqual(await run(exact, 5));
});
