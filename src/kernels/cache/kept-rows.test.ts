import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { EMPTY_ROW } from '../../testing/toys/empty-row.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { compactReference } from './compact.reference.ts';
import { packMoves } from './compact.ts';
import { keepRowsReference, meanRowsReference } from './kept-rows.reference.ts';
import { keepRows, meanRows, moveRows, ROW_SPAN } from './kept-rows.ts';
import { packRows } from './rows.ts';

const WIDTHS = [1, 31, 33, 64, 300];
const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));
const random = (rows: number, width: number): number[][] => {
  const next = noise(width + rows);
  return list(rows, () => list(width, next));
};
/** As [first, first + count). */
const run = (first: number, count: number): number[] => list(count, (i) => first + i);

for (const features of ['all', 'baseline'] as const) {
  test(`keep-rows on ${features}: living rows at their slots, everything else as it was`, async () => {
    const gpu = await testGpu(features);
    const rows = [5, 0, 63, 7].map((slot, i) => ({
      ...EMPTY_ROW,
      slot,
      alive: Number(i !== 3),
    }));
    for (const width of WIDTHS) {
      const stride = stride32(width);
      const [before, pass] = [random(64, width), random(4, width)];
      const kept = tensorOf(gpu, strided(before, stride));
      const tensors = { input: tensorOf(gpu, strided(pass, stride)), rows: tensorOf(gpu, packRows(rows, 4)), kept };
      const [values] = await runKernel(gpu, [kept], (plan) => keepRows(plan, tensors, { rows: 4, stride }));
      expect(values).toEqual(strided(keepRowsReference(before, pass, rows), stride));
    }
  });

  test(`move-rows on ${features}: moves happen in order, even where they overlap`, async () => {
    const gpu = await testGpu(features);
    const moves = [
      { from: 2, to: 1 },
      { from: 1, to: 2 },
      { from: 40, to: 40 },
      { from: 63, to: 0 },
    ];
    for (const width of WIDTHS)
      for (const count of [4, 16]) {
        const before = random(64, width);
        const store = tensorOf(gpu, strided(before, width));
        const list = tensorOf(gpu, packMoves(moves, count));
        const [values] = await runKernel(gpu, [{ ...store, bytes: 64 * width * 4 }], (plan) =>
          moveRows(plan, { store, moves: list }, { count, width }),
        );
        expect(values).toEqual(strided(compactReference(before, moves), width));
      }
  });

  test(`mean-rows on ${features}: of one run, of two, of none`, async () => {
    const gpu = await testGpu(features);
    const spans = [
      { first: 3, count: 1, further: 0, more: 0 },
      { first: 0, count: 5, further: 40, more: 24 },
      { first: 9, count: 0, further: 9, more: 0 },
    ];
    for (const width of WIDTHS) {
      const stride = stride32(width);
      const before = random(64, width);
      const means = gpu.activation(3, stride, 'means');
      const tensors = {
        kept: tensorOf(gpu, strided(before, stride)),
        spans: tensorOf(gpu, ROW_SPAN.pack(spans)),
        means,
      };
      const [values] = await runKernel(gpu, [means], (plan) => meanRows(plan, tensors, { spans: 3, stride }));
      const expected = spans.map(({ first, count, further, more }) =>
        meanRowsReference(before, [...run(first, count), ...run(further, more)]),
      );
      expect(deviation(values as Float32Array, strided(expected, stride))).toBeLessThan(1e-5);
    }
  });
}
