// Reward heads and token classifiers against transformers' outputs, whatever the chunks and the precision; and
// checkpoints that are none.
import { describe, expect, test } from 'vitest';
import type { OutriderError } from '../../base/errors.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { goldenTensor, readGolden, relativeError } from '../../testing/goldens/golden.ts';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { tinyCheckpoint } from '../../testing/toys/tiny.ts';
import type { TensorInfo } from '../../weights/checkpoint.ts';
import { folderSource } from '../../weights/files/folder.ts';
import { openCheckpoint } from '../../weights/open.ts';
import type { LoadModelOptions } from '../load/checkpoint-tensors.ts';
import { type LoadedScored, loadScored } from '../load/load-judge.ts';

const CASES = [
  ['value-head-tiny', 'value', 'value.f32', 1],
  ['token-classification-tiny', 'classes', 'logits.f32', 2],
] as const;

const inputs = (name: string): readonly number[] =>
  (readGolden(name) as unknown as { input_ids: readonly number[] }).input_ids;

const load = async (name: string, options: LoadModelOptions = {}): Promise<LoadedScored> => {
  using checkpoint = await openCheckpoint(await folderSource(shared('golden', name)));
  return await loadScored(await testGpu(), checkpoint, options);
};

const flat = (rows: readonly Float32Array[]): Float32Array => Float32Array.from(rows.flatMap((row) => [...row]));

describe.skipIf(noShared)('scored models', () => {
  test.each(CASES)('%s', async (name, kind, file, labels) => {
    const tokens = inputs(name);
    const loaded = await load(name);
    using model = loaded.model;
    expect([loaded.kind, loaded.labels.length]).toEqual([kind, labels]);
    using cursor = await model.open(64);
    const whole = flat(await cursor.read(tokens));
    expect(relativeError(whole, goldenTensor(name, file))).toBeLessThan(1e-3);

    // One by one, and again from the middle: the same bits.
    cursor.rewind(0);
    const single: Float32Array[] = [];
    for (const token of tokens) single.push(...(await cursor.read([token])));
    expect(flat(single)).toEqual(whole);
    cursor.rewind(7);
    expect(flat(await cursor.read(tokens.slice(7)))).toEqual(whole.slice(7 * labels));
    expect(cursor.length).toBe(tokens.length);
  });

  test('f16, q8 and q4 stay near, in this order', async () => {
    const [name, , file] = CASES[0];
    const errors: number[] = [];
    for (const precision of ['f16', 'q8', 'q4'] as const) {
      using model = (await load(name, { precision })).model;
      using cursor = await model.open();
      errors.push(relativeError(flat(await cursor.read(inputs(name))), goldenTensor(name, file)));
    }
    const [f16, q8, q4] = errors as [number, number, number];
    expect(f16).toBeLessThan(3e-2);
    expect(q8).toBeLessThan(0.3);
    expect(q4).toBeLessThan(4);
    expect([f16, q8, q4]).toEqual([...errors].sort((a, b) => a - b));
  });
});

/** A tiny decoder with these tensors besides its own. */
const judge = (more: Readonly<Record<string, readonly number[]>>, config: Readonly<Record<string, unknown>> = {}) => {
  const edit = (tensors: Map<string, TensorInfo>): void => {
    for (const [name, shape] of Object.entries(more))
      tensors.set(name, { name, type: 'F32', shape, bytes: shape.reduce((a, b) => a * b, 4) });
  };
  const checkpoint = tinyCheckpoint({ edit });
  return { ...checkpoint, config: { ...checkpoint.config, ...config } };
};

const problem = async (...[more, config]: Parameters<typeof judge>): Promise<string> => {
  try {
    (await loadScored(await testGpu(), judge(more, config))).model[Symbol.dispose]();
  } catch (error) {
    expect((error as OutriderError).code).toBe('bad-checkpoint');
    return (error as Error).message;
  }
  return 'nothing';
};

test('a head of the wrong shape is named with both shapes, and a language model is no judge', async () => {
  expect(await problem({})).toContain('neither v_head.summary.weight nor score.weight');
  expect(await problem({ 'v_head.summary.weight': [1, 31] })).toBe(
    'v_head.summary.weight: expected [1, 32], found [1, 31]',
  );
  expect(await problem({ 'v_head.summary.weight': [1, 32], 'v_head.summary.bias': [2] })).toBe(
    'v_head.summary.bias: expected [1], found [2]',
  );
  expect(await problem({ 'score.weight': [2, 32] }, { num_labels: 2 ** 53 })).toBe(
    'num_labels is 9007199254740992, and score.weight has 2 rows',
  );
  expect(await problem({ 'score.weight': [2, 32] }, { id2label: { 0: 'a', 1: 'b', 2: 'c' } })).toBe(
    'score.weight: expected [3, 32], found [2, 32]',
  );
  expect(await problem({ 'score.weight': [2, 32], 'score.extra': [2] })).toBe('unknown tensor score.extra');
  expect(await problem({ 'score.weight': [2, 32] }, { outlay: 'prompt' })).toContain('outlay');
});

test('one list of logits for each token; refused: foreign tokens, rows beyond its capacity', async () => {
  const loaded = await loadScored(await testGpu(), judge({ 'score.weight': [4, 32], 'lm_head.weight': [50, 32] }));
  using model = loaded.model;
  expect(loaded.labels).toEqual(['LABEL_0', 'LABEL_1', 'LABEL_2', 'LABEL_3']);
  await expect(model.open(161)).rejects.toThrow('161 rows');
  using cursor = await model.open(20);
  const rows = await cursor.read(Array.from({ length: 18 }, (_, i) => i));
  expect(rows.map(({ length }) => length)).toEqual(Array(18).fill(4));
  await expect(cursor.read([1, 2, 3])).rejects.toThrow('exceed the 20');
  await expect(cursor.read([50])).rejects.toThrow('token 50 is outside');
  expect(() => cursor.rewind(19)).toThrow('rewind to 19');
  await expect(cursor.read([1], AbortSignal.abort())).rejects.toThrow();
  expect(cursor.length).toBe(18);
});
