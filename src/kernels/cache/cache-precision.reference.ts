import { halfTable } from '../../weights/quantize/dequantize.ts';
import { toHalf } from '../../weights/quantize/half.ts';
import type { CachePrecision } from './cache-precision.ts';

/** A key or value of one head at q8: an integer for each dimension, and the scale of 32 dimensions of each half. */
export const quantizeReference = (row: readonly number[]) => {
  const half = row.length / 2;
  const groupOf = (d: number): number => Math.floor((d % half) / 32) * 2 + Math.floor(d / half);
  const scales = new Float32Array(2 * Math.ceil(half / 32));
  row.forEach((x, d) => {
    scales[groupOf(d)] = Math.max(scales[groupOf(d)] as number, Math.abs(x) / 127);
  });
  const scaleOf = (d: number): number => scales[groupOf(d)] as number;
  return { integers: row.map((x, d) => (scaleOf(d) === 0 ? 0 : Math.round(x / scaleOf(d)))), scales, scaleOf };
};

/** What is read back of a row. */
export const storedReference = (row: readonly number[], precision: CachePrecision): number[] => {
  if (precision === 'f32') return row.map(Math.fround);
  const halves = halfTable();
  if (precision === 'f16') return row.map((x) => halves[toHalf(x)] as number);
  const { integers, scaleOf } = quantizeReference(row);
  return integers.map((integer, d) => Math.fround(integer * scaleOf(d)));
};
