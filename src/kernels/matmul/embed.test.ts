import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { EMPTY_ROW } from '../../testing/toys/empty-row.ts';
import { matrixLayout, splitRows, stride32 } from '../../weights/quantize/device-layout.ts';
import { MatrixPacker } from '../../weights/quantize/quantize.ts';
import { unpack } from '../../weights/quantize/unpack.ts';
import { packRows, type Row } from '../cache/rows.ts';
import { embedReference } from './embed.reference.ts';
import { embed } from './embed.ts';

const TOKENS = [0, 1, 15, 16, 17, 31, 32, 33, 46, 0, 5, 40, 46, 3, 16, 32];

for (const features of ['all', 'baseline'] as const)
  test(`embed on ${features}: every format, whole and in parts, tokens by value and from the token ring`, async () => {
    const gpu = await testGpu(features);
    for (const format of ['f32', 'f16', 'q8', 'q6', 'q4', 'q4m'] as const)
      for (const columns of [1, 31, 33, 64, 520])
        for (const rowsAPart of [16, 1024]) {
          const random = noise(columns);
          const vocabulary = 47;
          const whole = Array.from({ length: vocabulary }, () => Array.from({ length: columns }, random));
          const stored: number[][] = []; // their values in this format
          const perRow = matrixLayout(format, 16, columns).weightBytes / 16;
          const parts = splitRows(format, vocabulary, columns, perRow * rowsAPart).map(({ start, rows }) => {
            const packer = new MatrixPacker(matrixLayout(format, rows, columns));
            packer.put(0, Float32Array.from(whole.slice(start, start + rows).flat()));
            const values = unpack(packer.layout, packer);
            for (let i = 0; i < rows; i++) stored.push([...values.subarray(i * columns, (i + 1) * columns)]);
            return {
              start,
              layout: packer.layout,
              weights: tensorOf(gpu, packer.weights),
              scales: tensorOf(gpu, packer.scales.length > 0 ? packer.scales : new Uint32Array(4)),
            };
          });
          expect(parts.length).toBe(rowsAPart === 16 ? 3 : 1);
          const rows = TOKENS.map(
            (token, i): Row => ({
              ...EMPTY_ROW,
              token: i % 2 ? token : 1e9,
              ringEntry: i % 2 ? 0 : i + 1,
            }),
          );
          const tokenRing = tensorOf(gpu, Uint32Array.from(TOKENS.flatMap((token) => [token, 7, 7, 7])));
          const stride = stride32(columns);
          for (const M of [1, 2, 4, 8, 12, 16]) {
            const output = gpu.activation(M, stride, 'output');
            const [values] = await runKernel(gpu, [output], (plan) =>
              embed(
                plan,
                {
                  rows: tensorOf(gpu, packRows(rows.slice(0, M), M)),
                  tokenRing,
                  matrix: { format, rows: vocabulary, columns, parts },
                  output,
                },
                { rows: M, scale: 0.5 },
              ),
            );
            const expected = strided(embedReference(stored, TOKENS.slice(0, M), 0.5), stride);
            // Exact but for the minimum, which the device adds with one rounding less.
            const worst = Math.max(...expected.map((x, i) => Math.abs(x - (values?.[i] as number))));
            expect(worst, `${format} ${columns} M = ${M}`).toBeLessThanOrEqual(format === 'q4m' ? 1e-6 : 0);
          }
          if (format !== 'f32' && format !== 'q8') continue;
          // A row for each position, whatever the token is.
          const at = TOKENS.map((position): Row => ({ ...EMPTY_ROW, token: 3, position, ringEntry: 1 }));
          const output = { ...tensorOf(gpu, new Float32Array(16 * stride).fill(0.25)), shape: [16, stride] };
          const matrix = { format, rows: vocabulary, columns, parts };
          const tensors = { rows: tensorOf(gpu, packRows(at, 16)), tokenRing, matrix, output };
          const [added] = await runKernel(gpu, [output], (plan) => embed(plan, tensors, { rows: 16, positions: true }));
          const sums = embedReference(stored, TOKENS).map((row) => row.map((value) => Math.fround(value + 0.25)));
          for (const [m, row] of sums.entries())
            expect([...(added as Float32Array).subarray(m * stride, m * stride + columns)], `${format} ${m}`).toEqual(
              row,
            );
        }
  });
