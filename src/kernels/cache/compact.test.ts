import { expect, test } from 'vitest';
import { packKeys, packValues } from '../../testing/device/cache.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { runKernel, tensorOf } from '../../testing/device/run-kernel.ts';
import { CACHE_PRECISIONS, unitsOf } from './cache-precision.ts';
import { compactReference } from './compact.reference.ts';
import { compact, packMoves } from './compact.ts';

for (const features of ['all', 'baseline'] as const)
  test(`compact on ${features}: moves happen in order, even where they overlap`, async () => {
    const gpu = await testGpu(features);
    const capacity = 192;
    const chain = [
      { from: 2, to: 1 },
      { from: 3, to: 2 },
      { from: 64, to: 3 },
      { from: 190 + capacity, to: 64 + 2 * capacity }, // in a ring: of later rounds
    ];
    for (const moves of [
      [],
      chain,
      [
        { from: 0, to: 1 },
        { from: 1, to: 2 },
      ],
    ])
      for (const [keyValueHeads, headDim] of [
        [1, 16],
        [3, 64],
        [2, 80],
      ] as const)
        for (const precision of CACHE_PRECISIONS) {
          const cache = Array.from({ length: keyValueHeads }, (_, h) =>
            Array.from({ length: capacity }, (_, slot) =>
              Array.from({ length: headDim }, (_, d) => ((h * 31 + slot * 7 + d) % 400) / 64),
            ),
          );
          const keys = tensorOf(gpu, packKeys(cache, capacity, precision));
          const values = tensorOf(gpu, packValues(cache, capacity, precision));
          const [movedKeys, movedValues] = (await runKernel(gpu, [keys, values], (plan) =>
            compact(
              plan,
              { keys, values, moves: tensorOf(gpu, packMoves(moves, moves.length === 2 ? 2 : 16)) },
              { count: moves.length === 2 ? 2 : 16, keyValueHeads, ring: capacity, ...unitsOf(headDim, precision) },
            ),
          )) as [Float32Array, Float32Array];
          const expected = cache.map((head) =>
            compactReference(
              head,
              moves.map(({ from, to }) => ({ from: from % capacity, to: to % capacity })),
            ),
          );
          expect(new Uint32Array(movedKeys.buffer)).toEqual(packKeys(expected, capacity, precision));
          expect(new Uint32Array(movedValues.buffer)).toEqual(packValues(expected, capacity, precision));
        }
  });
