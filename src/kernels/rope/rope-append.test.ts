import { expect, test } from 'vitest';
import type { Tensor } from '../../gpu/kernel.ts';
import { packKeys, packValues } from '../../testing/device/cache.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { EMPTY_ROW } from '../../testing/toys/empty-row.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { CACHE_PRECISIONS, storedAs, unitsOf } from '../cache/cache-precision.ts';
import { packRows, type Row } from '../cache/rows.ts';
import { ropeReference } from './rope-append.reference.ts';
import { ropeAppend } from './rope-append.ts';

const POSITIONS = 300;
const CAPACITY = 128;
const epsilon = 1e-6;

/** Scales within their last places, integers within one, and those rarely apart. */
const nearlyBytes = (
  actual: Uint32Array,
  expected: Uint32Array,
  isScale: (unit: number) => boolean,
  name: string,
): void => {
  const float = new Float32Array(1);
  const word = new Uint32Array(float.buffer);
  const floatOf = (bits: number): number => {
    word[0] = bits;
    return float[0] as number;
  };
  let apart = 0;
  actual.forEach((bits, i) => {
    const wanted = expected[i] as number;
    if (bits === wanted) return;
    if (isScale(Math.floor(i / 2))) {
      expect(Math.abs(floatOf(bits) / floatOf(wanted) - 1), name).toBeLessThan(1e-5);
      return;
    }
    for (let b = 0; b < 32; b += 8) {
      const difference = ((bits << (24 - b)) >> 24) - ((wanted << (24 - b)) >> 24);
      expect(Math.abs(difference), name).toBeLessThanOrEqual(1);
      if (difference !== 0) apart++;
    }
  });
  expect(apart / actual.length, name).toBeLessThan(0.01);
};

for (const features of ['all', 'baseline'] as const)
  test(`rope-append on ${features}`, async () => {
    const gpu = await testGpu(features);
    for (const [heads, keyValueHeads, headDim, rotated] of [
      [1, 1, 16, 16],
      [1, 1, 16, 6],
      [3, 1, 32, 32],
      [3, 1, 32, 20],
      [2, 2, 24, 0],
      [9, 3, 64, 64],
      [6, 2, 80, 80],
      [3, 3, 96, 72],
      [4, 2, 128, 128],
    ] as const)
      for (const normed of [0, 1, 2] as const)
        for (const precision of CACHE_PRECISIONS) {
          const random = noise(heads * 100 + headDim);
          const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));
          const all = heads + 2 * keyValueHeads;
          const qkv = list(16, () => list(all, () => list(headDim, random)));
          const [queryNorm, keyNorm] = [list(headDim, random), list(headDim, random)];
          const angle = (position: number, i: number) => position / 10000 ** ((2 * i) / rotated);
          const table = list(POSITIONS, (position) =>
            list(
              rotated / 2,
              (i) => [Math.fround(Math.cos(angle(position, i))), Math.fround(Math.sin(angle(position, i)))] as const,
            ),
          );
          const rows = list(
            16,
            (i): Row => ({
              ...EMPTY_ROW,
              position: (i * 37) % POSITIONS,
              slot: ((i * 5 + 60) % CAPACITY) + (i % 3) * CAPACITY, // some lie in the ring's later rounds
              alive: i === 6 ? 0 : 1,
            }),
          );
          const qkvStride = stride32(all * headDim);
          const stride = stride32(heads * headDim);
          const inputs = {
            qkv: tensorOf(
              gpu,
              strided(
                qkv.map((row) => row.flat()),
                qkvStride,
              ),
            ),
            rows: tensorOf(gpu, packRows(rows, 16)),
            table: tensorOf(gpu, Float32Array.from(rotated > 0 ? table.flat(2) : [0, 0, 0, 0])),
            queryNorm: tensorOf(gpu, Float32Array.from(queryNorm)),
            keyNorm: tensorOf(gpu, Float32Array.from(keyNorm)),
          };
          const stored = storedAs(precision);
          const { units, words } = unitsOf(headDim, precision);
          const run = async (M: number, partly = rotated < headDim ? 1 : 0) => {
            const query = gpu.activation(M, stride, 'query');
            const [keys, values] = [0, 1].map(() =>
              tensorOf(gpu, new Uint32Array(keyValueHeads * CAPACITY * units * words * 2)),
            ) as [Tensor, Tensor];
            return runKernel(gpu, [query, keys, values], (plan) =>
              ropeAppend(
                plan,
                { ...inputs, query, keys, values },
                { rows: M, heads, keyValueHeads, headDim, rotated, epsilon, normed, ring: CAPACITY, stored },
                { partly },
              ),
            ) as Promise<[Float32Array, Float32Array, Float32Array]>;
          };
          const turned = (i: number, head: number) => {
            const weight = head < heads ? queryNorm : keyNorm;
            const angles = table[rows[i]?.position ?? 0] ?? [];
            return ropeReference(
              qkv[i]?.[head] ?? [],
              angles,
              normed ? { weight, epsilon, after: normed === 2 } : undefined,
            );
          };
          const name = JSON.stringify({ heads, keyValueHeads, headDim, rotated, normed, precision });
          const [query, keys, values] = await run(16);
          const queries = list(16, (i) => list(heads, (h) => turned(i, h)).flat());
          expect(deviation(query, strided(queries, stride)), name).toBeLessThan(2e-6);

          const blank = list(headDim, () => 0);
          const cache = (row: (i: number, head: number) => readonly number[]) =>
            list(keyValueHeads, (h) =>
              list(CAPACITY, (slot) => {
                const i = rows.findIndex((each) => each.slot % CAPACITY === slot && each.alive === 1);
                return i < 0 ? blank : row(i, h);
              }),
            );
          const plainValues = cache((i, h) => qkv[i]?.[heads + keyValueHeads + h] ?? []);
          const expectedValues = packValues(plainValues, CAPACITY, precision);
          if (precision !== 'q8') expect(new Uint32Array(values.buffer), `${name}: values`).toEqual(expectedValues);
          const plainKeys = cache((i, h) => turned(i, heads + h));
          const expected = packKeys(plainKeys, CAPACITY, precision);
          // The cache is mostly empty, so its standard deviation is a third of its rows'.
          if (precision === 'f32') expect(deviation(keys, new Float32Array(expected.buffer)), name).toBeLessThan(6e-6);
          else if (precision === 'q8') {
            nearlyBytes(
              new Uint32Array(values.buffer),
              expectedValues,
              (unit) => unit % units >= headDim / 8,
              `${name}: values`,
            );
            nearlyBytes(
              new Uint32Array(keys.buffer),
              expected,
              (unit) => Math.floor(unit / 64) % units >= headDim / 8,
              `${name}: keys`,
            );
          } else {
            // A value next to a tie may round either way: at most one unit of f16, and rarely.
            const [got, want] = [new Uint16Array(keys.buffer), new Uint16Array(expected.buffer)];
            const apart = got.map((bits, i) => Math.abs(bits - (want[i] as number)));
            expect(Math.max(...apart), name).toBeLessThanOrEqual(1);
            expect(apart.filter((x) => x > 0).length / apart.length, name).toBeLessThan(0.01);
          }
          if (rotated === headDim)
            expect((await run(16, 1)).slice(0, 2), `${name}: as if in part`).toEqual([query, keys]);
          for (const M of [1, 2, 4, 8]) {
            const [fewer] = await run(M);
            expect(fewer, `${name}: M = ${M}`).toEqual(query.subarray(0, M * stride));
          }
        }
  });
