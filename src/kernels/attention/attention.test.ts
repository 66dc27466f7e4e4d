import { expect, test } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { type PlainCache, packKeys, packValues } from '../../testing/device/cache.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, exactNoise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { EMPTY_ROW } from '../../testing/toys/empty-row.ts';
import { branching, checkTrees, some, variantsOn } from '../../testing/toys/planted-trees.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { storedReference } from '../cache/cache-precision.reference.ts';
import { CACHE_PRECISIONS, type CachePrecision, storedAs } from '../cache/cache-precision.ts';
import { packRows, type Row } from '../cache/rows.ts';
import { attentionReference } from './attention.reference.ts';
import { type AttentionTuning, attentionOf, attentionScratchBytes } from './attention.ts';

/** Sixteen rows with `keys` slots in the cache: every kind of visibility that rows.ts names. */
const allKinds = (keys: number): Row[] => {
  const past = Math.max(0, keys - 16);
  const chain = (i: number): Row => ({ ...EMPTY_ROW, prefix: past, start: past, end: Math.min(keys, past + i + 1) });
  const within = (mask: number) => (keys < 32 ? mask & (2 ** keys - 1) : mask); // bits of slots that exist
  const tree = (low: number, high: number): Row => ({
    ...EMPTY_ROW,
    prefix: Math.min(past, Math.max(0, keys - 64)),
    base: Math.max(0, keys - 64),
    maskLow: within(low),
    maskHigh: high,
  });
  return [
    ...[0, 1, 2, 3, 15].map(chain),
    { ...EMPTY_ROW, alive: 0, prefix: keys },
    { ...EMPTY_ROW },
    tree(1, 0),
    tree(0x8000_0001, keys >= 64 ? 0x8000_0001 : 0),
    tree(0b1011, 0),
    { ...EMPTY_ROW, prefix: keys, first: Math.max(0, keys - 5) },
    { ...EMPTY_ROW, prefix: keys, first: Math.max(0, keys - 70) },
    { ...EMPTY_ROW, prefix: Math.min(3, keys), start: keys - 1, end: keys },
    { ...EMPTY_ROW, start: past, end: keys },
    { ...EMPTY_ROW, start: past, end: keys },
    { ...EMPTY_ROW, prefix: keys },
  ];
};

interface Case {
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly headDim: number;
  readonly keys: number;
  readonly precision: CachePrecision;
  /** Of the scores; the scale is headDim^-½ without. */
  readonly scoring?: { readonly scale: number; readonly softCap: number };
}

/** Gives back what all rows together got. */
const check = async (
  gpu: Gpu,
  tuning: AttentionTuning,
  { heads, keyValueHeads, headDim, keys, precision, scoring = { scale: headDim ** -0.5, softCap: 0 } }: Case,
): Promise<Float32Array> => {
  const attention = attentionOf(tuning);
  const random = exactNoise(heads * 1000 + headDim + keys);
  const list = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);
  const cache = (): PlainCache =>
    list(keyValueHeads, () => list(keys, () => storedReference(list(headDim, random), precision)));
  const [plainKeys, plainValues] = [cache(), cache()];
  const queries = list(16, () => list(heads, () => list(headDim, random)));
  const rows = allKinds(keys);
  const capacity = Math.ceil(keys / 64) * 64 + 64;
  const stride = stride32(heads * headDim);
  const query = tensorOf(
    gpu,
    strided(
      queries.map((q) => q.flat()),
      stride,
    ),
  );
  const tensors = {
    keys: tensorOf(gpu, packKeys(plainKeys, capacity, precision)),
    values: tensorOf(gpu, packValues(plainValues, capacity, precision)),
  };
  const run = async (from: number, M: number): Promise<Float32Array> => {
    const sizes = { rows: M, heads, keyValueHeads, headDim, capacity, ring: capacity };
    const shape = { ...sizes, stored: storedAs(precision), ...scoring };
    const output = gpu.activation(M, stride, 'output');
    const scratch = tensorOf(gpu, new Float32Array(attentionScratchBytes(shape, tuning) / 4).fill(Number.NaN));
    const part = tensorOf(
      gpu,
      strided(
        queries.slice(from, from + M).map((q) => q.flat()),
        stride,
      ),
    );
    const [values] = await runKernel(
      gpu,
      [output],
      (plan) =>
        attention(
          plan,
          {
            ...tensors,
            query: M === 16 ? query : part,
            rows: tensorOf(gpu, packRows(rows.slice(from, from + M), M)),
            scratch,
            output,
          },
          shape,
        ),
      keys,
    );
    return values as Float32Array;
  };
  const whole = await run(0, 16);
  const expected = strided(
    rows.map((each, i) => attentionReference(queries[i] ?? [], plainKeys, plainValues, each, scoring).flat()),
    stride,
  );
  const name = JSON.stringify({ heads, keyValueHeads, headDim, keys, precision, scoring });
  expect(deviation(whole, expected), name).toBeLessThan(5e-6);
  expect(whole.subarray(5 * stride, 7 * stride), `${name}: rows that see nothing`).toEqual(
    new Float32Array(2 * stride),
  );
  for (const [from, M] of [
    [0, 1],
    [9, 1],
    [11, 1],
    [8, 2],
    [4, 4],
    [12, 4],
    [0, 8],
    [8, 8],
  ] as const)
    expect(await run(from, M), `${name}: rows ${from}… at M = ${M}`).toEqual(
      whole.subarray(from * stride, (from + M) * stride),
    );
  return whole;
};

const shapes = [
  { heads: 1, keyValueHeads: 1, headDim: 16 },
  { heads: 3, keyValueHeads: 1, headDim: 32 },
  { heads: 6, keyValueHeads: 2, headDim: 80 },
  { heads: 9, keyValueHeads: 3, headDim: 64 },
  { heads: 3, keyValueHeads: 3, headDim: 96 },
  { heads: 5, keyValueHeads: 1, headDim: 128 },
];

for (const features of ['all', 'baseline'] as const)
  for (const variant of variantsOn[features])
    test(`attention on ${features}: ${variant}`, async () => {
      const gpu = await testGpu(features);
      for (const shape of shapes)
        for (const keys of [1, 63, 64, 65, 200])
          for (const precision of CACHE_PRECISIONS) {
            if (precision !== 'f32' && keys !== 65) continue;
            await check(gpu, { variant }, { ...shape, keys, precision });
          }
    }, 180_000); // many shapes: ten seconds on a quiet machine, a minute on a busy one

/** Sizes of trees, and where they begin. */
const PLACES = {
  all: [
    [64, [1, 62, 63, 64, 120]],
    [16, [63, 120]],
  ],
  baseline: [
    [64, [62, 127]],
    [16, [62, 127]],
  ],
} as const;

for (const features of ['all', 'baseline'] as const)
  for (const variant of variantsOn[features])
    test(`attention on ${features}: ${variant}, branching trees are causal passes bit for bit`, async () => {
      const gpu = await testGpu(features);
      // At, before and after the edge of a chunk, and far from it.
      for (const [n, bases] of PLACES[features])
        for (const base of bases) {
          const tree = { prefix: base, start: base, base, parents: branching(n, base), nodes: some(n, 16) };
          await checkTrees(gpu, { variant }, [tree], null);
        }
      const near = { prefix: 60, start: 60, base: 60, parents: branching(20, 3), nodes: some(20, 8) };
      await checkTrees(gpu, { variant }, [near], 9);
      // Two forks in one pass, which cross edges of their own.
      const far = { prefix: 64, start: 128, base: 187, parents: branching(30, 4), nodes: some(30, 8) };
      await checkTrees(gpu, { variant }, [near, far], null);
      await checkTrees(gpu, { variant }, [far, near], 70);
      // The cache keeps the last 192 of 320 slots: the chunks 3 and 4 lie before chunk 2, and 5 is the last.
      for (const base of [191, 250, 255]) {
        const late = { prefix: base, start: base, base, parents: branching(64, base), nodes: some(64, 16) };
        await checkTrees(gpu, { variant }, [late], base === 191 ? 50 : 70, 192);
      }
    }, 180_000);

for (const features of ['all', 'baseline'] as const)
  for (const variant of variantsOn[features])
    test(`attention on ${features}: ${variant}, another scale and a soft cap`, async () => {
      const gpu = await testGpu(features);
      for (const scoring of [
        { scale: 0.4, softCap: 0 },
        { scale: 0.9, softCap: 1.5 },
        { scale: 0.2, softCap: 50 },
      ])
        await check(gpu, { variant }, { heads: 6, keyValueHeads: 2, headDim: 24, keys: 65, precision: 'f32', scoring });
    }, 180_000);

test('shuffle gives the bits of staged', async () => {
  const gpu = await testGpu();
  for (const [i, shape] of shapes.entries()) {
    const one = { ...shape, keys: 65 + 27 * i, precision: i % 2 ? 'q8' : 'f32' } as const;
    expect(await check(gpu, { variant: 'shuffle' }, one)).toEqual(await check(gpu, { variant: 'staged' }, one));
  }
}, 180_000);
