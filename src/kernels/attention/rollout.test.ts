// Both variants against the CPU reference, over awkward shapes, levels and edges of chunks. A row's bits do not depend
// on the other rows of its pass.

import { expect, test } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { type PlainCache, packKeys, packValues } from '../../testing/device/cache.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, exactNoise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { variantsOn } from '../../testing/toys/planted-trees.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { type CachePrecision, storedAs } from '../cache/cache-precision.ts';
import { packRows, type Row } from '../cache/rows.ts';
import { type AttentionTuning, attentionOf, attentionScratchBytes } from './attention.ts';
import { averageReference, rolloutReference } from './rollout.reference.ts';
import { type RolloutVariant, rollout } from './rollout.ts';

const LEVELS = 2;

const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));

/** A chain after `past` rows of a cursor; `shared` and `start` as a fork has them. */
const chain = (count: number, past: number, sources: number | undefined, fork?: { shared: number; start: number }) => {
  const shared = fork?.shared ?? past;
  const start = fork?.start ?? past;
  const base = start + past - shared;
  return list(count, (i): Row => {
    const [low, high] = i < 31 ? [2 ** (i + 1) - 1, 0] : [0, 0];
    return {
      token: 0,
      position: past + i,
      slot: base + i,
      prefix: shared,
      first: 0,
      start,
      end: base,
      base,
      maskLow: low,
      maskHigh: high,
      alive: 1,
      ringEntry: 0,
      chunkBoundary: Math.ceil((base + 1) / 64) * 64,
      sources,
    };
  });
};

interface Case {
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly headDim: number;
  readonly precision: CachePrecision;
  readonly softCap: number;
  readonly variant: RolloutVariant;
  readonly rows: readonly Row[];
}

const check = async (gpu: Gpu, tuning: AttentionTuning, one: Case): Promise<void> => {
  const { heads, keyValueHeads, headDim, precision, variant, rows, softCap } = one;
  const scoring = { scale: headDim ** -0.5, softCap };
  const attention = attentionOf(tuning);
  const keys = Math.max(...rows.map(({ slot }) => slot)) + 1;
  const random = exactNoise(heads * 1000 + headDim + keys);
  const cache = (): PlainCache => list(keyValueHeads, () => list(keys, () => list(headDim, random)));
  const [plainKeys, plainValues] = [cache(), cache()];
  const queries = rows.map(() => list(heads, () => list(headDim, () => 2 * random())));
  const capacity = Math.ceil(keys / 64) * 64 + 64;
  const packed = {
    keys: packKeys(plainKeys, capacity, precision),
    values: packValues(plainValues, capacity, precision),
  };
  const stride = stride32(heads * headDim);
  const skip = 1;
  // What the level below has left at every slot.
  const below = list(capacity, () => [Math.abs(random()), Math.abs(random())] as const);

  const run = async (level: 0 | 1, from: number, M: number): Promise<Float32Array> => {
    const sizes = { rows: M, heads, keyValueHeads, headDim, capacity, ring: capacity };
    const shape = { ...sizes, stored: storedAs(precision), ...scoring };
    const rolloutState = tensorOf(
      gpu,
      Float32Array.from(below.flatMap(([x, y]) => (level === 1 ? [x, y, 7, 7] : [7, 7, 7, 7]))),
    );
    const part = queries.slice(from, from + M).map((q) => q.flat());
    const tensors = {
      query: tensorOf(gpu, strided(part, stride)),
      keys: tensorOf(gpu, packed.keys),
      values: tensorOf(gpu, packed.values),
      rows: tensorOf(gpu, packRows(rows.slice(from, from + M), M)),
      scratch: tensorOf(gpu, new Float32Array(attentionScratchBytes(shape, tuning) / 4).fill(Number.NaN)),
      output: gpu.activation(M, stride, 'output'),
    };
    const record = (plan: Parameters<typeof attention>[0]): void => {
      attention(plan, tensors, shape);
      rollout(plan, { ...tensors, rolloutState }, { ...shape, level, levels: LEVELS, skip }, tuning, variant);
    };
    const [values] = await runKernel(gpu, [rolloutState], record, keys);
    const at = (row: Row): number => (row.slot * LEVELS + level) * 2;
    return Float32Array.from(
      rows.slice(from, from + M).flatMap((row) => [...(values as Float32Array).subarray(at(row), at(row) + 2)]),
    );
  };

  const averages = rows.map((row, i) => averageReference(queries[i] ?? [], plainKeys, row, scoring));
  for (const level of [0, 1] as const) {
    const expected = rows.flatMap((row, i) => {
      const average = averages[i] ?? [];
      const place = (slot: number): number => (slot < row.prefix ? slot : slot - row.slot + row.position);
      const values = average.map((_, slot) => (level === 1 ? (below[slot] as readonly [number, number]) : null));
      const whole = values.map((pair, slot) => (pair ? pair[0] : Number(place(slot) >= skip)));
      const grounded = values.map((pair, slot) =>
        place(slot) < (row.sources ?? Infinity) ? (whole[slot] as number) : pair ? pair[1] : 0,
      );
      return [whole, grounded].map((value) => rolloutReference(average, value, row.slot, variant));
    });
    const name = JSON.stringify({ ...one, rows: `${rows.length} to ${keys}`, level });
    const together = await run(level, 0, rows.length);
    if (rows.some(({ alive }) => alive === 0)) throw new Error('dead rows have a test of their own');
    expect(deviation(together, expected), name).toBeLessThan(5e-6);
    for (const [from, M] of [
      [0, 1],
      [rows.length - 1, 1],
      [1, rows.length - 1],
    ] as const)
      expect(await run(level, from, M), `${name}: rows ${from}… at M = ${M}`).toEqual(
        together.subarray(2 * from, 2 * (from + M)),
      );
  }
};

const shapes = [
  { heads: 1, keyValueHeads: 1, headDim: 16 },
  { heads: 3, keyValueHeads: 1, headDim: 32 },
  { heads: 9, keyValueHeads: 3, headDim: 64 },
  { heads: 5, keyValueHeads: 1, headDim: 128 },
  { heads: 6, keyValueHeads: 6, headDim: 80 },
];
const places = [
  chain(2, 0, 1),
  chain(5, 62, 60),
  chain(16, 64, undefined),
  chain(7, 190, 191),
  [...chain(3, 70, 70, { shared: 64, start: 128 }), ...chain(4, 70, 66, { shared: 64, start: 192 })],
];

for (const features of ['all', 'baseline'] as const)
  for (const variant of variantsOn[features])
    test(`rollout on ${features}: ${variant}`, async () => {
      const gpu = await testGpu(features);
      for (const [i, shape] of shapes.entries())
        for (const [j, rows] of places.entries())
          for (const kind of ['threshold', 'plain', 'residual', 'renormalised'] as const) {
            // Each shape at two places, each place with two shapes.
            if (i !== j && (kind !== 'threshold' || j !== (i + 1) % places.length)) continue;
            const one = {
              ...shape,
              rows,
              variant: kind,
              precision: j === 1 ? 'f16' : 'f32',
              softCap: j === 2 ? 2 : 0,
            } as const;
            await check(gpu, { variant }, one);
          }
    }, 300_000);

test('rows of padding leave every column alone', async () => {
  const gpu = await testGpu();
  for (const variant of ['staged', 'split'] as const) {
    const attention = attentionOf({ variant });
    const sizes = { rows: 2, heads: 2, keyValueHeads: 1, headDim: 16, capacity: 128, ring: 128 };
    const shape = { ...sizes, stored: 0, scale: 0.25, softCap: 0 } as const;
    const dead = chain(2, 3, 3).map((row) => ({ ...row, alive: 0 as const }));
    const rolloutState = tensorOf(gpu, new Float32Array(128 * 2).fill(7));
    const tensors = {
      query: tensorOf(gpu, new Float32Array(64)),
      keys: tensorOf(gpu, new Float32Array(128 * 16)),
      values: tensorOf(gpu, new Float32Array(128 * 16)),
      rows: tensorOf(gpu, packRows(dead, 2)),
      scratch: tensorOf(gpu, new Float32Array(attentionScratchBytes(shape, { variant }) / 4)),
      output: gpu.activation(2, 32, 'output'),
    };
    const [after] = await runKernel(
      gpu,
      [rolloutState],
      (plan) => {
        attention(plan, tensors, shape);
        rollout(plan, { ...tensors, rolloutState }, { ...shape, level: 0, levels: 1, skip: 0 }, { variant }, 'plain');
      },
      5,
    );
    expect(after).toEqual(new Float32Array(128 * 2).fill(7));
  }
});
