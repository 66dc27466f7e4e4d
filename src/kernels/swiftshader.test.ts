// A few of each kernel again on SwiftShader: against the CPU references, and bit for bit the same at M = 1 and M = 8.
import { describe, expect, test } from 'vitest';
import { packKeys, packValues } from '../testing/device/cache.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../testing/device/run-kernel.ts';
import { noSwiftShader, swiftShaderGpu } from '../testing/device/swiftshader.ts';
import { stride32 } from '../weights/quantize/device-layout.ts';
import { attentionReference } from './attention/attention.reference.ts';
import { attentionOf, attentionScratchBytes } from './attention/attention.ts';
import { packRows, type Row } from './cache/rows.ts';
import { layerNormReference } from './norm/layer-norm.reference.ts';
import { layerNorm } from './norm/layer-norm.ts';
import { rmsNormReference } from './norm/rms-norm.reference.ts';
import { rmsNorm } from './norm/rms-norm.ts';
import { ropeReference } from './rope/rope-append.reference.ts';
import { ropeAppend } from './rope/rope-append.ts';
import { sampleReference } from './sampling/sample.reference.ts';
import { CHOICE_WORDS, type Draw, packDraws, sample, unpackChoices } from './sampling/sample.ts';

const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));

/** A causal chain of eight rows after `length` slots. */
const chain = (length: number): Row[] =>
  list(8, (i) => ({
    token: 0,
    position: length + i,
    slot: length + i,
    prefix: length,
    first: 0,
    start: 0,
    end: 0,
    base: length,
    maskLow: 2 ** (i + 1) - 1,
    maskHigh: 0,
    alive: 1,
    ringEntry: 0,
    chunkBoundary: 0,
  }));

describe.skipIf(noSwiftShader)('on SwiftShader', () => {
  test.each([1, 64])('rms-norm and layer-norm, %i lanes a row', async (threads) => {
    const gpu = await swiftShaderGpu();
    for (const width of [33, 192]) {
      const random = noise(width);
      const stride = stride32(width);
      const rows = list(8, () => list(width, random));
      const own = list(width, random);
      const input = tensorOf(gpu, strided(rows, stride));
      const weight = tensorOf(gpu, Float32Array.from(own));
      const run = async (M: number, kind: 'rms' | 'layer') => {
        const output = gpu.activation(M, stride, 'output');
        const [values] = await runKernel(gpu, [output], (plan) => {
          const shape = { rows: M, width, epsilon: 1e-5 };
          if (kind === 'rms') rmsNorm(plan, { input, weight, output }, shape, { threads });
          else layerNorm(plan, { input, weight, output }, shape, { threads, biased: 0 });
        });
        return values as Float32Array;
      };
      for (const kind of ['rms', 'layer'] as const) {
        const whole = await run(8, kind);
        const expected = rows.map((row) =>
          kind === 'rms' ? rmsNormReference(row, own, 1e-5) : layerNormReference(row, own, null, 1e-5),
        );
        expect(deviation(whole, strided(expected, stride))).toBeLessThan(2e-6);
        expect(await run(1, kind)).toEqual(whole.subarray(0, stride));
      }
    }
  });

  test.each(['staged', 'split'] as const)('rope-append, then attention: %s', async (variant) => {
    const gpu = await swiftShaderGpu();
    const attention = attentionOf({ variant });
    const [heads, keyValueHeads, headDim, length, capacity] = [4, 2, 32, 90, 128] as const;
    const random = noise(7);
    const all = heads + 2 * keyValueHeads;
    const qkv = list(8, () => list(all, () => list(headDim, random)));
    const past = () => list(keyValueHeads, () => list(length, () => list(headDim, random)));
    const [pastKeys, pastValues] = [past(), past()];
    const table = list(length + 8, (position) =>
      list(headDim / 2, (i) => [Math.cos(position / 9 ** i), Math.sin(position / 9 ** i)] as const),
    );
    const rows = chain(length);
    const stride = stride32(heads * headDim);
    const none = tensorOf(gpu, new Uint32Array(4));
    const scoring = { scale: headDim ** -0.5, softCap: 0 };
    const run = async (M: number) => {
      const keys = tensorOf(gpu, packKeys(pastKeys, capacity, 'f32'));
      const values = tensorOf(gpu, packValues(pastValues, capacity, 'f32'));
      const query = gpu.activation(M, stride, 'query');
      const output = gpu.activation(M, stride, 'output');
      const shape = {
        rows: M,
        heads,
        keyValueHeads,
        headDim,
        capacity,
        ring: capacity,
        stored: 0,
        ...scoring,
      } as const;
      const scratch = tensorOf(gpu, new Float32Array(attentionScratchBytes(shape, { variant }) / 4));
      const rowsTensor = tensorOf(gpu, packRows(rows.slice(0, M), M));
      const fused = tensorOf(
        gpu,
        strided(
          qkv.map((row) => row.flat()),
          stride32(all * headDim),
        ),
      );
      const [result] = await runKernel(
        gpu,
        [output],
        (plan) => {
          ropeAppend(
            plan,
            {
              qkv: fused,
              rows: rowsTensor,
              table: tensorOf(gpu, Float32Array.from(table.flat(2))),
              queryNorm: none,
              keyNorm: none,
              query,
              keys,
              values,
            },
            { ...shape, rotated: headDim, epsilon: 0, normed: 0 },
          );
          attention(plan, { query, keys, values, rows: rowsTensor, scratch, output }, shape);
        },
        length + M,
      );
      return result as Float32Array;
    };
    const turned = (i: number, head: number) => ropeReference(qkv[i]?.[head] ?? [], table[length + i] ?? []);
    const keys = pastKeys.map((head, h) => [...head, ...list(8, (i) => turned(i, heads + h))]);
    const values = pastValues.map((head, h) => [...head, ...list(8, (i) => qkv[i]?.[heads + keyValueHeads + h] ?? [])]);
    const expected = rows.map((row, i) =>
      attentionReference(
        list(heads, (h) => turned(i, h)),
        keys,
        values,
        row,
        scoring,
      ).flat(),
    );
    const whole = await run(8);
    expect(deviation(whole, strided(expected, stride))).toBeLessThan(1e-5);
    expect(await run(1)).toEqual(whole.subarray(0, stride));
  });

  test('sample', async () => {
    const gpu = await swiftShaderGpu();
    const random = noise(3);
    const logits = list(500, () => Math.fround(3 * random()));
    const plain: Draw = { row: 0, temperature: 1, topK: 0, topP: 1, minP: 0, seed: 9, position: 4, entry: 0 };
    const draws = [
      { ...plain, temperature: 0 },
      plain,
      { ...plain, topK: 30, topP: 0.8 },
      { ...plain, topP: 0.9, minP: 0.05, position: 5 },
    ];
    const choices = tensorOf(gpu, new Uint32Array(draws.length * CHOICE_WORDS));
    const tensors = {
      logits: tensorOf(gpu, strided([logits], 512)),
      draws: tensorOf(gpu, packDraws(draws.map((each, entry) => ({ ...each, entry })))),
      choices,
    };
    const [data] = await runKernel(gpu, [choices], (plan) =>
      sample(plan, tensors, { rows: draws.length, vocabulary: 500, stride: 512 }, { threads: 8 }),
    );
    const drawn = unpackChoices((data as Float32Array<ArrayBuffer>).buffer);
    expect(drawn.map(({ token }) => token)).toEqual(draws.map((draw) => sampleReference(logits, draw).token));
  });
});
