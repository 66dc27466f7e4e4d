import { expect, test } from 'vitest';
import { packKeys, packValues } from '../../testing/device/cache.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { packRows, type Row } from '../cache/rows.ts';
import { ropeReference } from './rope-append.reference.ts';
import { ropeAppend } from './rope-append.ts';

const POSITIONS = 300;
const CAPACITY = 128;
const epsilon = 1e-6;

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
      for (const normed of [0, 1] as const)
        for (const half of [0, 1] as const) {
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
              token: 0,
              position: (i * 37) % POSITIONS,
              slot: (i * 5 + 60) % CAPACITY,
              prefix: 0,
              first: 0,
              start: 0,
              end: 0,
              base: 0,
              maskLow: 0,
              maskHigh: 0,
              alive: i === 6 ? 0 : 1,
              ringEntry: 0,
              chunkBoundary: 0,
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
          const run = async (M: number, partly = rotated < headDim ? 1 : 0) => {
            const query = gpu.activation(M, stride, 'query');
            const keys = tensorOf(gpu, new Uint32Array((keyValueHeads * CAPACITY * headDim) / (half ? 2 : 1)));
            const values = tensorOf(gpu, new Uint32Array((keyValueHeads * CAPACITY * headDim) / (half ? 2 : 1)));
            return runKernel(gpu, [query, keys, values], (plan) =>
              ropeAppend(
                plan,
                { ...inputs, query, keys, values },
                { rows: M, heads, keyValueHeads, headDim, rotated, epsilon, normed, capacity: CAPACITY, half },
                { partly },
              ),
            ) as Promise<[Float32Array, Float32Array, Float32Array]>;
          };
          const turned = (i: number, head: number) => {
            const weight = head < heads ? queryNorm : keyNorm;
            const angles = table[rows[i]?.position ?? 0] ?? [];
            return ropeReference(qkv[i]?.[head] ?? [], angles, normed ? { weight, epsilon } : undefined);
          };
          const name = JSON.stringify({ heads, keyValueHeads, headDim, rotated, normed, half });
          const [query, keys, values] = await run(16);
          const queries = list(16, (i) => list(heads, (h) => turned(i, h)).flat());
          expect(deviation(query, strided(queries, stride)), name).toBeLessThan(2e-6);

          const blank = list(headDim, () => 0);
          const cache = (row: (i: number, head: number) => readonly number[]) =>
            list(keyValueHeads, (h) =>
              list(CAPACITY, (slot) => {
                const i = rows.findIndex((each) => each.slot === slot && each.alive === 1);
                return i < 0 ? blank : row(i, h);
              }),
            );
          const plainValues = cache((i, h) => qkv[i]?.[heads + keyValueHeads + h] ?? []);
          expect(new Uint32Array(values.buffer), `${name}: values`).toEqual(
            packValues(plainValues, CAPACITY, half === 1),
          );
          const plainKeys = cache((i, h) => turned(i, heads + h));
          const expected = packKeys(plainKeys, CAPACITY, half === 1);
          // The cache is mostly empty, so its standard deviation is a third of its rows'.
          if (half === 0) expect(deviation(keys, new Float32Array(expected.buffer)), name).toBeLessThan(6e-6);
          else {
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
