// longrope: the rows of a sequence depend on whether it is longer than the original length. transformers' outputs on
// both sides and while crossing, and passes that lie on both sides. Rewinds across the limit: rollback.test.ts.
import { describe, expect, test } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import {
  chain,
  type GoldenCase,
  goldenTensor,
  greedy,
  loadShared,
  readGolden,
  relativeError,
  scoreRows,
} from '../testing/goldens/golden.ts';
import { noShared } from '../testing/goldens/shared.ts';

const NAME = 'phi3-longrope-tiny';
const TOLERANCE = 1e-3;
const LIMIT = 64;

const load = async () => loadShared(await testGpu(), `golden/${NAME}`, { precision: 'f32', batchInvariant: true });

describe.skipIf(noShared)(NAME, () => {
  test('past the limit every row has the long factors; the chunk does not matter', async () => {
    const { long } = readGolden(NAME);
    using model = await load();
    using cursor = await model.open({ capacity: 128, length: long.prompt.length });
    const { logits } = await scoreRows(cursor, long.prompt);
    expect(relativeError(logits, goldenTensor(NAME, 'long_logits.f32'))).toBeLessThan(TOLERANCE);
    for (const chunk of [1, 5, 7]) {
      cursor.rewind(0);
      expect((await scoreRows(cursor, long.prompt, chunk)).logits, `chunks of ${chunk}`).toEqual(logits);
    }
    expect(await greedy(model, long.prompt, long.greedy.length)).toEqual(long.greedy);
  });

  test.each(['F16', 'Q8_0'])('past the limit from GGUF, whose factors are tensors: %s', async (type) => {
    const gguf = `gguf-${NAME}`;
    const { models, long_prompt: prompt = [] } = readGolden(gguf);
    const { file, long_greedy: expected = [] } = models[type] as GoldenCase['models'][string];
    expect(expected.length).toBeGreaterThan(0);
    using model = await loadShared(await testGpu(), `golden/${gguf}/${file}`, { batchInvariant: true });
    using cursor = await model.open({ capacity: prompt.length, length: prompt.length });
    const logits = goldenTensor(gguf, `long_logits_${type}.f32`);
    expect(relativeError((await scoreRows(cursor, prompt)).logits, logits)).toBeLessThan(TOLERANCE);
    expect(await greedy(model, prompt, expected.length)).toEqual(expected);
  });

  test('crossing the limit, one token at a time and in one pass', async () => {
    const crossing = readGolden(NAME).crossing as NonNullable<GoldenCase['crossing']>;
    const { prompt, greedy: tokens } = crossing;
    using model = await load();
    expect(await greedy(model, prompt, tokens.length)).toEqual(tokens);
    using cursor = await model.open({ capacity: 128, tapLayers: [1] });
    await cursor.extend(prompt);
    const alone = await scoreRows(cursor, tokens, 1);
    const expected = goldenTensor(NAME, 'crossing_logits.f32'); // of the prompt's last row, then of each token but the last
    const { vocabulary } = model;
    const steps = alone.logits.subarray(0, (tokens.length - 1) * vocabulary);
    expect(relativeError(steps, expected.slice(vocabulary))).toBeLessThan(TOLERANCE);

    for (const kept of [2, 7, tokens.length]) {
      cursor.rewind(prompt.length);
      const pass = cursor.forward(chain(tokens));
      const taps = await pass.taps[0]?.read();
      expect(await pass.logits.read()).toEqual(alone.logits);
      expect(taps).toEqual(alone.taps[0]);
      pass.accept(tokens.slice(0, kept).map((_, i) => i));
      const after = await cursor.forward(chain(tokens.slice(kept - 1, kept))).logits.read();
      using plain = await model.open({ capacity: 128 });
      await plain.extend([...prompt, ...tokens.slice(0, kept)]);
      expect(after, `${kept} kept`).toEqual(await plain.forward(chain(tokens.slice(kept - 1, kept))).logits.read());
    }
  });

  test('a tree on the device is told how many levels stay on one side', async () => {
    const crossing = readGolden(NAME).crossing as NonNullable<GoldenCase['crossing']>;
    using model = await load();
    using cursor = await model.open({ capacity: 128 });
    await cursor.extend(crossing.prompt);
    expect(cursor.levels).toBe(LIMIT - crossing.prompt.length);
    await cursor.extend(crossing.greedy);
    expect(cursor.levels).toBe(Number.POSITIVE_INFINITY);
    using short = await model.open({ capacity: LIMIT });
    expect(short.levels).toBe(Number.POSITIVE_INFINITY);
  });
});
