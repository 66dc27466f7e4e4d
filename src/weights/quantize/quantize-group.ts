// Quantisers of one group of 32 values into its cell of the device layout. Scales are rounded to f16 first and the
// integers chosen for the rounded scale, so that the stored pair is the best for what the kernel will multiply.
import { bad } from '../../base/refuse.ts';
import { halfTable } from './dequantize.ts';
import { GROUP, type Packed } from './device-layout.ts';
import { putHalf, toHalf } from './half.ts';

/** Gives the sum of the squared differences that it leaves. */
export type GroupQuantizer = (
  values: Float32Array,
  from: number,
  into: Packed,
  group: number,
  row: number,
  paddedRows: number,
) => number;

const halves = halfTable();
/** The group at hand, padded with zeros, and its integers. */
const x = new Float64Array(GROUP);
const q = new Int32Array(GROUP);

/** Fills `x`; gives the value that lies farthest from zero. */
const load = (values: Float32Array, from: number): number => {
  const count = Math.min(GROUP, values.length - from);
  let sum = 0;
  let largest = 0;
  for (let i = 0; i < count; i++) {
    const value = values[from + i] as number;
    x[i] = value;
    sum += value;
    if (Math.abs(value) > Math.abs(largest)) largest = value;
  }
  for (let i = count; i < GROUP; i++) x[i] = 0;
  // One infinity or NaN makes the sum one too; sums of 32 finite f32 values are finite in f64.
  if (!Number.isFinite(sum)) throw bad('a weight is infinite or not a number');
  return largest;
};

/** The half of a scale that is not negative: at most the largest finite one. */
const scaleHalf = (scale: number): number => Math.min(toHalf(scale), 0x7bff);

/** Integers from −127 to 127 of a group whose values reach `largest`; gives the half of their scale. */
export const quantizeBytes = (values: ArrayLike<number>, largest: number, into: Int32Array): number => {
  const half = scaleHalf(largest / 127);
  const scale = halves[half] as number;
  const inverse = scale === 0 ? 0 : 1 / scale;
  for (let i = 0; i < GROUP; i++) {
    // Rounds by truncating a positive number. Above 127 only where the scale is a subnormal half.
    const value = (((values[i] as number) * inverse + 1024.5) | 0) - 1024;
    into[i] = Math.max(-127, Math.min(127, value));
  }
  return half;
};

export const quantizeQ8: GroupQuantizer = (values, from, into, group, row, paddedRows) => {
  const half = quantizeBytes(x, Math.abs(load(values, from)), q);
  for (let c = 0; c < 8; c++) {
    let word = 0;
    for (let b = 0; b < 4; b++) word |= ((q[4 * c + b] as number) & 255) << (8 * b);
    into.weights[((2 * group + (c >> 2)) * paddedRows + row) * 4 + (c & 3)] = word;
  }
  putHalf(into.scales, group * paddedRows + row, half);
  return squaredError(halves[half] as number, 0, 0);
};

/** Integers from −31 to 31 of each half, with a scale of its own. */
export const quantizeQ6: GroupQuantizer = (values, from, into, group, row, paddedRows) => {
  load(values, from);
  const used: [number, number] = [0, 0];
  let error = 0;
  for (const half of [0, 1] as const) {
    let largest = 0;
    for (let i = 16 * half; i < 16 * half + 16; i++) largest = Math.max(largest, Math.abs(x[i] as number));
    used[half] = scaleHalf(largest / 31);
    const scale = halves[used[half]] as number;
    const inverse = scale === 0 ? 0 : 1 / scale;
    for (let i = 16 * half; i < 16 * half + 16; i++) {
      // As in quantizeBytes.
      const value = Math.max(-31, Math.min(31, (((x[i] as number) * inverse + 1024.5) | 0) - 1024));
      q[i] = value + 32;
      error += (value * scale - (x[i] as number)) ** 2;
    }
  }
  putSixBits(q, used, into, group, row, paddedRows);
  return error;
};

/** Integers from 0 to 63, which stand for −32 to 31, and the halves of two scales into a group of q6. */
const putSixBits = (
  integers: ArrayLike<number>,
  scales: readonly [number, number],
  into: Packed,
  group: number,
  row: number,
  paddedRows: number,
): void => {
  for (let i = 0; i < GROUP; i++) q[i] = integers[i] as number;
  const plane = 3 * group * paddedRows + row;
  into.scales[plane] = scales[0] | (scales[1] << 16);
  for (let half = 0; half < 2; half++) {
    let word = 0;
    for (let i = 0; i < 16; i++) word |= ((q[16 * half + i] as number) >> 4) << (8 * (i & 3) + 2 * (i >> 2));
    into.scales[plane + (1 + half) * paddedRows] = word;
  }
  for (let i = 0; i < GROUP; i++) q[i] = (q[i] as number) & 15;
  putNibbles(into.weights, group * paddedRows + row);
};

/** Nibbles of `q` into a cell: byte b of word c holds element 8c + b low and 8c + 4 + b high. */
const putNibbles = (weights: Uint32Array, cell: number): void => {
  for (let c = 0; c < 4; c++) {
    let word = 0;
    for (let b = 0; b < 4; b++) word |= ((q[8 * c + b] as number) | ((q[8 * c + 4 + b] as number) << 4)) << (8 * b);
    weights[cell * 4 + c] = word;
  }
};

const nibblesFor = (scale: number): void => {
  const inverse = scale === 0 ? 0 : 1 / scale;
  for (let i = 0; i < GROUP; i++) {
    // Truncation rounds a positive number; −8 comes from the largest value alone, but the other end is +8 then.
    const value = (((x[i] as number) * inverse + 1024.5) | 0) - 1016;
    q[i] = Math.max(0, Math.min(15, value));
  }
};

/** Of `q` at this scale, an integer of `zero` standing for `minimum`. */
const squaredError = (scale: number, zero: number, minimum: number): number => {
  let error = 0;
  for (let i = 0; i < GROUP; i++) error += (((q[i] as number) - zero) * scale + minimum - (x[i] as number)) ** 2;
  return error;
};

/** The scale that fits the integers best (least squares), given the integers. */
const refit = (): number => {
  let xq = 0;
  let qq = 0;
  for (let i = 0; i < GROUP; i++) {
    const value = (q[i] as number) - 8;
    xq += (x[i] as number) * value;
    qq += value * value;
  }
  return qq === 0 ? 0 : xq / qq;
};

/**
 * The largest value, with its sign, becomes −8, as in ggml's Q4_0; then the scale is refitted by least squares and
 * kept if the error falls. Negative scales are ordinary.
 */
export const quantizeQ4: GroupQuantizer = (values, from, into, group, row, paddedRows) => {
  let half = signedHalf(load(values, from) / -8);
  nibblesFor(halves[half] as number);
  let error = squaredError(halves[half] as number, 8, 0);
  const refitted = signedHalf(refit());
  nibblesFor(halves[refitted] as number);
  const refittedError = squaredError(halves[refitted] as number, 8, 0);
  if (refittedError < error) [half, error] = [refitted, refittedError];
  else nibblesFor(halves[half] as number);
  const cell = group * paddedRows + row;
  putNibbles(into.weights, cell);
  putHalf(into.scales, cell, half);
  return error;
};

const signedHalf = (scale: number): number => scaleHalf(Math.abs(scale)) | (scale < 0 ? 0x8000 : 0);

/** Nibbles over [minimum, maximum]: for a matrix with another tensor that has minimums. */
export const quantizeQ4m: GroupQuantizer = (values, from, into, group, row, paddedRows) => {
  load(values, from);
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < GROUP; i++) {
    least = Math.min(least, x[i] as number);
    most = Math.max(most, x[i] as number);
  }
  const minimum = signedHalf(least);
  const scale = scaleHalf((most - (halves[minimum] as number)) / 15);
  const inverse = scale === 0 ? 0 : 1 / (halves[scale] as number);
  for (let i = 0; i < GROUP; i++)
    q[i] = Math.max(0, Math.min(15, Math.round(((x[i] as number) - (halves[minimum] as number)) * inverse)));
  const cell = group * paddedRows + row;
  putNibbles(into.weights, cell);
  into.scales[cell] = scale | (minimum << 16);
  return squaredError(halves[scale] as number, 0, halves[minimum] as number);
};
