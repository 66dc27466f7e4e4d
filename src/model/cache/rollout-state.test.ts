// The grounding of rows against transformers' attention, with any chunks, forks and rewinds.
import { describe, expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { chain, GREEDY, goldenTensor, loadShared, readGolden } from '../../testing/goldens/golden.ts';
import reference from '../../testing/goldens/rollout-families.json' with { type: 'json' };
import { noShared } from '../../testing/goldens/shared.ts';
import type { Cursor, LanguageModel, OpenCursor, Rollout } from '../interface.ts';
import { tokenRingOf } from '../sampling/token-ring.ts';
import type { CursorPass } from './cursor.ts';

const CASE = 'rollout-tiny';
const VARIANTS = ['threshold', 'plain', 'residual'] as const;
const SOURCES = 20;

const inputs = (): readonly number[] => (readGolden(CASE) as unknown as { input_ids: readonly number[] }).input_ids;

const grounding = async (model: LanguageModel, cursor: Cursor, first: number, count: number): Promise<Float32Array> => {
  const { grounding } = await model.gather([], [{ cursor, first, count }]);
  return grounding[0] as Float32Array;
};

const worst = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  expect(a.length).toBe(b.length);
  return Array.from(a).reduce((most, x, i) => Math.max(most, Math.abs(x - (b[i] as number))), 0);
};

const open = (model: LanguageModel, rollout: Partial<Rollout> = {}, more: OpenCursor = {}) =>
  model.open({ capacity: 200, ...more, rollout: { layers: 3, variant: 'threshold', ...rollout } });

// Windows, soft caps, layers without rotation, and layers that do not attend at all.
describe.skipIf(noShared).each(Object.entries(reference.families))('rollout of %s', (name, expected) => {
  test('is that of transformers, whatever the chunks', async () => {
    const { tokens, sources } = reference;
    using model = await loadShared(await testGpu(), `golden/${name}`);
    for (const [variant, last] of Object.entries(expected) as [keyof typeof expected, number[]][])
      for (const chunk of [16, 7]) {
        using cursor = await open(model, { variant });
        await cursor.extend(tokens.slice(0, sources), { chunk });
        cursor.groundOn(sources);
        await cursor.extend(tokens.slice(sources), { chunk });
        const actual = await grounding(model, cursor, tokens.length - last.length, last.length);
        expect(worst(actual, last), `${variant}, chunks of ${chunk}`).toBeLessThan(1e-5);
      }
  });
});

describe.skipIf(noShared)('rollout', () => {
  test.each(['all', 'baseline'] as const)('is that of the reference attention, %s features', async (features) => {
    const tokens = inputs();
    using model = await loadShared(await testGpu(features), 'golden/llama-tiny');
    for (const variant of VARIANTS) {
      using cursor = await open(model, { variant });
      await cursor.extend(tokens.slice(0, SOURCES));
      cursor.groundOn(SOURCES);
      await cursor.extend(tokens.slice(SOURCES));
      const actual = await grounding(model, cursor, SOURCES, tokens.length - SOURCES);
      expect(worst(actual, goldenTensor(CASE, `grounding_${variant}.f32`)), variant).toBeLessThan(1e-5);
    }
  });

  test('has the same bits whatever the chunks, and in forks', async () => {
    const tokens = Array.from({ length: 150 }, (_, i) => (i * 37 + 11) % 320);
    const [sources, step] = [100, 125];
    using model = await loadShared(await testGpu(), 'golden/llama-tiny');
    for (const variant of VARIANTS) {
      const from = async (chunk: number): Promise<Float32Array> => {
        using cursor = await open(model, { variant });
        await cursor.extend(tokens.slice(0, sources), { chunk });
        cursor.groundOn(sources);
        await cursor.extend(tokens.slice(sources), { chunk });
        return await grounding(model, cursor, 0, tokens.length);
      };
      const whole = await from(16);
      for (const chunk of [1, 3, 7]) expect(await from(chunk), `${variant}, chunks of ${chunk}`).toEqual(whole);

      using cursor = await open(model, { variant }, { forks: { count: 2, room: 60 } });
      await cursor.extend(tokens.slice(0, sources));
      cursor.groundOn(sources);
      const forks = cursor.fork(2, 60);
      for (const token of tokens.slice(sources, step))
        for (const pass of model.forward(forks.map((fork, i) => ({ cursor: fork, tree: chain([token + i]) }))))
          pass.accept([0]);
      const [fork, other] = forks as [Cursor, Cursor];
      expect(await grounding(model, fork, 0, step)).toEqual(whole.slice(0, step));
      expect(await grounding(model, other, sources, 5)).not.toEqual(whole.slice(sources, sources + 5));
      cursor.adopt(fork);
      expect(await grounding(model, cursor, 0, step)).toEqual(whole.slice(0, step));
      await cursor.extend(tokens.slice(step));
      expect(await grounding(model, cursor, 0, tokens.length)).toEqual(whole);
    }
  });

  test('takes a step in as sources where it is accepted, and forgets it where it is not', async () => {
    const tokens = inputs();
    using model = await loadShared(await testGpu(), 'golden/llama-tiny');
    const from = async (sources: number): Promise<Float32Array> => {
      using cursor = await open(model);
      await cursor.extend(tokens.slice(0, sources));
      cursor.groundOn(sources);
      await cursor.extend(tokens.slice(sources));
      return await grounding(model, cursor, 24, 6);
    };
    using cursor = await open(model);
    await cursor.extend(tokens.slice(0, 9));
    cursor.groundOn(10); // the next row, not read yet, is a source too
    await cursor.extend(tokens.slice(9, 20));
    cursor.groundOn(20);
    await cursor.extend([1, 2, 3]);
    cursor.rewind(20);
    await cursor.extend(tokens.slice(20, 24));
    cursor.groundOn(24);
    await cursor.extend(tokens.slice(24));
    expect(await grounding(model, cursor, 24, 6)).toEqual(await from(24));
    expect(await from(24)).not.toEqual(await from(20));
  });

  test('leaves out the attention sink, and takes as many layers as there are', async () => {
    const tokens = inputs();
    using model = await loadShared(await testGpu(), 'golden/llama-tiny');
    const run = async (rollout: Partial<Rollout>): Promise<Float32Array> => {
      using cursor = await open(model, { variant: 'plain', ...rollout });
      await cursor.extend(tokens.slice(0, SOURCES));
      cursor.groundOn(SOURCES);
      await cursor.extend(tokens.slice(SOURCES));
      return await grounding(model, cursor, SOURCES, 10);
    };
    const rolled = goldenTensor(CASE, 'rollout_plain.f32');
    const width = tokens.length;
    const withoutFirst = Array.from({ length: 10 }, (_, i) => {
      const row = (SOURCES + i) * width;
      return rolled.slice(row + 1, row + SOURCES).reduce((sum, x) => sum + x, 0);
    });
    expect(worst(await run({ skip: 1 }), withoutFirst)).toBeLessThan(1e-5);
    expect(await run({ layers: 'all' })).toEqual(await run({ layers: 3 }));
    expect(await run({ layers: 7 })).toEqual(await run({ layers: 3 }));
    const attention = goldenTensor(CASE, 'attention.f32');
    const last = Array.from({ length: 10 }, (_, i) => {
      const row = (2 * width + SOURCES + i) * width;
      return attention.slice(row, row + SOURCES).reduce((sum, x) => sum + x, 0);
    });
    expect(worst(await run({ layers: 1 }), last)).toBeLessThan(1e-5);
  });

  test('comes with draws of many passes and means of hidden states in one readback', async () => {
    const tokens = inputs();
    const gpu = await testGpu();
    using model = await loadShared(gpu, 'golden/llama-tiny');
    using cursor = await open(model, {}, { pool: true, tapLayers: [2], forks: { count: 2, room: 40 } });
    await cursor.extend(tokens.slice(0, -1));
    const [a, b] = cursor.fork(2, 40) as [Cursor, Cursor];
    let pass = model.forward([a, b].map((fork, i) => ({ cursor: fork, tree: chain([tokens[29 - i] as number]) })));
    const taps: number[][] = [[], []];
    const draws = [];
    for (let i = 0; i < 4; i++) {
      const drawn = pass.map((one) => one.draw(0, GREEDY));
      draws.push(...drawn);
      for (const [j, one] of pass.entries()) {
        taps[j]?.push(...(await (one.taps[0] as { read(): Promise<Float32Array> }).read()));
        one.accept([0]);
      }
      if (i < 3)
        pass = model.forward(
          [a, b].map((fork, j) => ({ cursor: fork, tree: chain([(drawn[j] as (typeof drawn)[number]).token]) })),
        );
    }
    const { submits, readbacks } = { ...gpu.counters };
    const found = await model.gather(draws, [
      { cursor: a, first: 29, count: 4 },
      { cursor: b, first: 30, count: 3 },
    ]);
    expect(gpu.counters.submits - submits).toBe(1);
    expect(gpu.counters.readbacks - readbacks).toBe(1);
    expect(found.choices).toEqual(await Promise.all(draws.map(async (draw) => (await draw.read())[0])));
    expect(found.grounding.map(({ length }) => length)).toEqual([4, 3]);
    const mean = (rows: readonly number[], from: number): number[] =>
      Array.from({ length: 96 }, (_, d) => {
        const picked = rows.filter((_, i) => i % 96 === d).slice(from);
        return picked.reduce((sum, x) => sum + x, 0) / picked.length;
      });
    expect(worst(found.pooled[0] as Float32Array, mean(taps[0] as number[], 0))).toBeLessThan(1e-5);
    expect(worst(found.pooled[1] as Float32Array, mean(taps[1] as number[], 1))).toBeLessThan(1e-5);
  });

  test('draws at the end of the token ring and at its beginning are read without those between', async () => {
    const gpu = await testGpu();
    using model = await loadShared(gpu, 'golden/llama-tiny');
    using cursor = await model.open({ capacity: 50 });
    const { ring } = tokenRingOf(gpu);
    const entries = 1024;
    while (ring.take(1) % entries !== entries - 3); // two are left before the end
    const draws = Array.from({ length: 5 }, (_, i) => {
      const [scores] = model.forward([{ cursor, tree: chain([i]) }]) as readonly [CursorPass];
      const draw = scores.draw(0, GREEDY);
      scores.accept([0]);
      return draw;
    });
    const before = gpu.counters.readbackBytes;
    const { choices } = await model.gather(draws, []);
    expect(gpu.counters.readbackBytes - before).toBe(5 * 16);
    expect(choices).toEqual(await Promise.all(draws.map(async (draw) => (await draw.read())[0])));
    expect(ring.take(1) % entries).toBe(3);
  });

  test('refuses what it cannot do', async () => {
    using model = await loadShared(await testGpu(), 'golden/llama-tiny');
    await expect(open(model, { layers: 0 })).rejects.toThrow('a rollout over 0 layers');
    using plain = await model.open({ capacity: 50 });
    expect(() => plain.groundOn(3)).toThrow('without `rollout`');
    using cursor = await open(model);
    expect(() => cursor.forward({ tokens: [1, 2, 3], parents: [-1, 0, 0] })).toThrow('chains only');
    await expect(model.gather([], [{ cursor, first: 0, count: 1 }])).rejects.toThrow('of a cursor of 0');
    expect(await model.gather([], [])).toEqual({ choices: [], grounding: [], pooled: [] });
  });
});
