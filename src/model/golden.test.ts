// The tiny models against transformers' outputs, in f32: logits, residual stream, greedy decoding, trees. Tolerance:
// 1e-3 standard deviations (golden/README.md); greedy tokens equal.
import { describe, expect, test } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import {
  chain,
  goldenTensor,
  greedy,
  loadShared,
  readGolden,
  relativeError,
  scoreRows,
  TINY_FAMILIES,
} from '../testing/goldens/golden.ts';
import { noShared } from '../testing/goldens/shared.ts';
import type { LanguageModel } from './interface.ts';

const TOLERANCE = 1e-3;
const COMPLETE = ['qwen3-tiny', 'llama-tiny', 'qwen2-tiny', 'qwen3-tiny-deep', ...TINY_FAMILIES];
const LOGITS_ONLY = ['qwen3-tiny-bf16', 'qwen3-tiny-sharded'];
const GGUF = ['gguf-llama-tiny', 'gguf-qwen3-tiny'];
/** With all features alone: reading a file does not depend on them. */
const GGUF_FAMILIES = [
  'gguf-gemma3-tiny',
  'gguf-phi3-longrope-tiny',
  'gguf-smollm3-tiny',
  'gguf-granite-tiny',
  'gguf-lfm2-tiny',
  'gguf-qwen3_5-tiny',
];

/** Every layer's taps of a prompt that is read so many rows a pass, and the rows of those passes. */
const tapsOfPrompt = async (model: LanguageModel, tokens: readonly number[], chunk: number) => {
  const tapLayers = Array.from({ length: model.layers }, (_, i) => i);
  using cursor = await model.open({ tapLayers, capacity: 64 });
  const rows: number[] = [];
  const parts: Promise<Float32Array>[][] = tapLayers.map(() => []);
  await cursor.extend(tokens, {
    chunk,
    onPass: (pass) => {
      rows.push(pass.rows);
      for (const [i, tap] of pass.taps.entries()) parts[i]?.push(tap.read());
    },
  });
  const read = parts.map(async (part) => Float32Array.from((await Promise.all(part)).flatMap((values) => [...values])));
  return { rows, taps: await Promise.all(read) };
};

const firstDifference = (a: Float32Array, b: Float32Array): number => a.findIndex((x, i) => !Object.is(x, b[i]));

describe.skipIf(noShared).each(['all', 'baseline'] as const)('goldens, %s features', (features) => {
  test.each(COMPLETE)('%s', async (name) => {
    const golden = readGolden(name);
    const at = (file: string): Float32Array => goldenTensor(name, `${file}.f32`);
    using model = await loadShared(await testGpu(features), `golden/${name}`);
    const layers = Array.from({ length: model.layers }, (_, i) => i);
    using cursor = await model.open({ tapLayers: layers, capacity: 128 });

    const { logits, taps } = await scoreRows(cursor, golden.prompt);
    expect(relativeError(logits, at('logits'))).toBeLessThan(TOLERANCE);
    const hidden = at('hidden'); // [layers + 1][rows][hidden], entry i + 1 being the stream after layer i
    const size = golden.prompt.length * model.hidden;
    for (const layer of layers.slice(0, -1)) {
      const expected = hidden.slice((layer + 1) * size, (layer + 2) * size);
      expect(relativeError(taps[layer] as Float32Array, expected)).toBeLessThan(TOLERANCE);
    }
    expect(relativeError(taps.at(-1) as Float32Array, at('residual_last'))).toBeLessThan(TOLERANCE);

    // A prompt's passes have 32 rows, and the rest comes in passes of 16 and 6.
    const long = Array.from({ length: 54 }, (_, i) => golden.prompt[i % golden.prompt.length] as number);
    const [inPrompts, alone] = [await tapsOfPrompt(model, long, 32), await tapsOfPrompt(model, long, 5)];
    expect(inPrompts.rows).toEqual([32, 16, 6]);
    expect(inPrompts.taps.map((tap, i) => firstDifference(tap, alone.taps[i] as Float32Array))).toEqual(
      layers.map(() => -1),
    );

    const { logits: next } = await scoreRows(cursor, golden.greedy.slice(0, 4), 1);
    expect(relativeError(next, at('generated_logits'))).toBeLessThan(TOLERANCE);
    expect(await greedy(model, golden.prompt, golden.greedy.length)).toEqual(golden.greedy);

    if (!golden.tree) return;
    cursor.rewind(0);
    await cursor.extend(golden.tree.prefix);
    const pass = cursor.forward(golden.tree);
    expect(relativeError(await pass.logits.read(), at('tree_logits'))).toBeLessThan(TOLERANCE);
  });

  test.each(LOGITS_ONLY)('%s', async (name) => {
    const golden = readGolden(name);
    using model = await loadShared(await testGpu(features), `golden/${name}`);
    using cursor = await model.open();
    const { logits } = await scoreRows(cursor, golden.prompt);
    expect(relativeError(logits, goldenTensor(name, 'logits.f32'))).toBeLessThan(TOLERANCE);
  });

  test.each(features === 'all' ? [...GGUF, ...GGUF_FAMILIES] : GGUF)('%s', async (name) => {
    const golden = readGolden(name);
    for (const [type, { file, greedy: expected }] of Object.entries(golden.models)) {
      // In f32, and as in the file: F16 and Q8_0 are kept without loss, so the numbers are the same.
      for (const precision of ['f32', undefined] as const) {
        using model = await loadShared(await testGpu(features), `golden/${name}/${file}`, { precision });
        using cursor = await model.open();
        const { logits } = await scoreRows(cursor, golden.prompt);
        expect(relativeError(logits, goldenTensor(name, `logits_${type}.f32`))).toBeLessThan(TOLERANCE);
        if (!precision) expect(await greedy(model, golden.prompt, expected.length)).toEqual(expected);
      }
    }
  });
});

test.skipIf(noShared)('an accepted tree path is what a causal chain would have left, bit for bit', async () => {
  const { tree } = readGolden('qwen3-tiny');
  using model = await loadShared(await testGpu(), 'golden/qwen3-tiny');
  using cursor = await model.open({ capacity: 64 });
  await cursor.extend(tree.prefix);
  const pass = cursor.forward(tree);
  const path = [0, 2, 5]; // of the golden tree: a root path that is no chain prefix
  const treeLogits = await pass.logits.read();
  pass.accept(path);
  const after = await cursor.forward(chain([7])).logits.read();
  const tokens = path.map((node) => tree.tokens[node] as number);
  using causal = await model.open({ capacity: 64 });
  await causal.extend(tree.prefix);
  const { logits } = await scoreRows(causal, tokens, 1);
  path.forEach((node, i) => {
    const row = (values: Float32Array, at: number) => values.slice(at * model.vocabulary, (at + 1) * model.vocabulary);
    expect(row(treeLogits, node)).toEqual(row(logits, i));
  });
  expect(after).toEqual(await causal.forward(chain([7])).logits.read());
  expect(cursor.length).toBe(tree.prefix.length + 3);
});
