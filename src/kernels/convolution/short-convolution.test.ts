import { expect, test } from 'vitest';
import { type Past, treeRows } from '../../model/cache/visibility.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, exactNoise, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { putHalf, toHalf } from '../../weights/quantize/half.ts';
import { packRows } from '../cache/rows.ts';
import { gatedConvolutionReference } from './short-convolution.reference.ts';
import { gatedConvolution, keptWords } from './short-convolution.ts';

const SLOTS = 256;
/** A tree whose nodes lie on both sides of the 32nd, with several roots of chains and leaves between. */
const PARENTS = [-1, 0, 0, 1, 1, 2, 3, 3, 6, ...Array.from({ length: 28 }, (_, i) => 8 + (i === 5 ? 0 : i))];

const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));

for (const features of ['all', 'baseline'] as const)
  test(`short convolutions on ${features}`, async () => {
    const gpu = await testGpu(features);
    for (const [channels, taps, past] of [
      [1, 1, { prefix: 3, start: 3, own: 0 }],
      [31, 3, { prefix: 0, start: 0, own: 0 }],
      [33, 4, { prefix: 64, start: 128, own: 1 }],
      [64, 3, { prefix: 1, start: 1, own: 0 }],
      [130, 7, { prefix: 64, start: 192, own: 2 }],
    ] as const satisfies (readonly [number, number, Past])[])
      for (const [half, biased] of [
        [false, false],
        [true, false],
        [false, true],
      ] as const) {
        const random = noise(channels + taps);
        const input = list(PARENTS.length, () => list(3 * channels, random));
        const weight = list(channels, () => list(taps, random));
        const bias = biased ? list(channels, random) : [];
        // What earlier passes left, in numbers that f16 holds.
        const exact = exactNoise(taps);
        const before = list(past.prefix + past.own, () => list(channels, exact));
        const slotOf = (position: number): number =>
          position < past.prefix ? position : past.start + position - past.prefix;
        const words = keptWords(channels, half);
        const store = new Uint32Array(SLOTS * words);
        before.forEach((values, position) => {
          const at = slotOf(position) * words;
          if (half) for (const [i, value] of values.entries()) putHalf(store, 2 * at + i, toHalf(value));
          else store.set(new Uint32Array(Float32Array.from(values).buffer), at);
        });
        const tree = { tokens: PARENTS.map(() => ({ token: 0, ringEntry: 0 })), parents: PARENTS };
        const weights = tensorOf(gpu, Float32Array.from([...weight.flat(), ...bias]));
        const stride = stride32(channels);
        /** `group` rows a dispatch, as a pass of more than sixteen rows has it. */
        const run = async (group: number): Promise<Float32Array[]> => {
          const kept = tensorOf(gpu, store.slice());
          const outputs: Float32Array[] = [];
          for (let first = 0; first < PARENTS.length; first += group) {
            const count = Math.min(group, PARENTS.length - first);
            const rows = packRows(treeRows(past, tree, null, first, count), group);
            const part = strided(
              list(group, (i) => input[first + i] ?? list(3 * channels, () => 9)),
              stride32(3 * channels),
            );
            const output = gpu.activation(group, stride, 'output');
            const [values] = await runKernel(gpu, [output], (plan) =>
              gatedConvolution(
                plan,
                { input: tensorOf(gpu, part), rows: tensorOf(gpu, rows), weight: weights, kept, output },
                { rows: group, channels, taps, width: 3 * channels, half: half ? 1 : 0, biased: biased ? 1 : 0 },
              ),
            );
            const all = values as Float32Array;
            expect(
              all.slice(count * stride).every((x) => x === 0),
              'dead rows give zeros',
            ).toBe(true);
            for (let i = 0; i < count; i++) outputs.push(all.slice(i * stride, (i + 1) * stride));
          }
          return outputs;
        };
        const together = await run(16);
        const ones = list(channels, () => 1);
        const expected = PARENTS.map((_, node) => {
          const path: number[] = [];
          for (let seen = node; seen >= 0; seen = PARENTS[seen] as number) path.unshift(seen);
          const kept = before.map((values) => [...ones, ...ones, ...values]);
          return gatedConvolutionReference([...kept, ...path.map((seen) => input[seen] as number[])], weight, bias);
        });
        const name = JSON.stringify({ channels, taps, half, biased });
        const actual = Float32Array.from(together.flatMap((row) => [...row.subarray(0, channels)]));
        expect(deviation(actual, expected.flat()), name).toBeLessThan(half ? 1e-2 : 2e-6);
        for (const group of [1, 2, 4, 8]) expect(await run(group), `${name}: ${group} rows`).toEqual(together);
      }
  });
