// Random matrices in device memory, in any format and any number of parts, with their words kept for the CPU
// references.
import type { Gpu } from '../../gpu/device.ts';
import { weightAt } from '../../kernels/matmul/matmul.reference.ts';
import type { Matrix } from '../../kernels/matmul/matmul.ts';
import { matrixLayout, splitRows, type WeightFormat } from '../../weights/quantize/device-layout.ts';
import { tensorOf } from './run-kernel.ts';

/** A small generator with a seed (mulberry32): uniform in [0, 1). */
export const random = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Two halves, each with either sign and a magnitude in [2⁻⁴, 2⁻³) or, one time in two, [2⁻³, 2⁻²). */
const halves = (next: () => number): number =>
  [0, 16].reduce(
    (word, shift) => word | (((next() < 0.5 ? 0x8000 : 0) | (0x2c00 + Math.floor(next() * 2048))) << shift),
    0,
  ) >>> 0;

const words = (format: WeightFormat, bytes: number, next: () => number): Uint32Array<ArrayBuffer> => {
  if (format === 'f32') return new Uint32Array(Float32Array.from({ length: bytes / 4 }, () => next() - 0.5).buffer);
  return Uint32Array.from({ length: bytes / 4 }, () =>
    format === 'f16' ? halves(next) : Math.floor(next() * 2 ** 32),
  );
};

export interface RandomMatrix {
  readonly matrix: Matrix;
  readonly at: (n: number, k: number) => number;
  free(): void;
}

/** `maxBinding` splits the matrix into parts as a device with that limit would. */
export const randomMatrix = (
  gpu: Gpu,
  format: WeightFormat,
  rows: number,
  columns: number,
  { seed = 1, maxBinding = 2 ** 27 }: { seed?: number; maxBinding?: number } = {},
): RandomMatrix => {
  const next = random(seed);
  const parts = splitRows(format, rows, columns, maxBinding).map((part) => {
    const layout = matrixLayout(format, part.rows, columns);
    const weights = words(format, layout.weightBytes, next);
    const scales = Uint32Array.from({ length: Math.max(4, layout.scaleBytes / 4) }, () => halves(next));
    return { start: part.start, layout, weights, scales };
  });
  const matrix: Matrix = {
    format,
    rows,
    columns,
    parts: parts.map((p) => ({ ...p, weights: tensorOf(gpu, p.weights), scales: tensorOf(gpu, p.scales) })),
  };
  return {
    matrix,
    at: (n, k) => {
      const part = parts.findLast(({ start }) => start <= n);
      if (!part) throw new Error(`no row ${n}`);
      return weightAt(part.layout, part.weights, part.scales, n - part.start, k);
    },
    free: () => {
      for (const { weights, scales } of matrix.parts) {
        gpu.free(weights.buffer);
        gpu.free(scales.buffer);
      }
    },
  };
};
