// The key-value cache as plain arrays: `[kvHead][slot][dimension]`, packed into the layouts that the kernels use.

import { quantizeReference } from '../../kernels/cache/cache-precision.reference.ts';
import { type CachePrecision, unitsOf } from '../../kernels/cache/cache-precision.ts';
import { toHalf } from '../../weights/quantize/half.ts';

export type PlainCache = readonly (readonly (readonly number[])[])[];

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** The units of a key or value of one head, each as its words of 32 bits. */
const unitWords = (row: readonly number[], precision: CachePrecision): ArrayLike<number>[] => {
  const at = (d: number): number => row[d] as number;
  if (precision === 'f32')
    return range(row.length / 4).map((q) => new Uint32Array(Float32Array.from(range(4), (i) => at(4 * q + i)).buffer));
  if (precision === 'f16')
    return range(row.length / 4).map(
      (q) => new Uint32Array(Uint16Array.from(range(4), (i) => toHalf(at(4 * q + i))).buffer),
    );
  const { integers, scales } = quantizeReference(row);
  const half = row.length / 2;
  const bytes = (from: number): number =>
    new Uint32Array(Int8Array.from(integers.slice(from, from + 4)).buffer)[0] as number;
  return [
    ...range(half / 4).map((j) => [bytes(4 * j), bytes(half + 4 * j)]),
    ...range(scales.length / 2).map((g) => new Uint32Array(scales.slice(2 * g, 2 * g + 2).buffer)),
  ];
};

const pack = (
  cache: PlainCache,
  capacity: number,
  precision: CachePrecision,
  unitAt: (head: number, slot: number, unit: number, units: number) => number,
): Uint32Array<ArrayBuffer> => {
  const { units, words } = unitsOf(cache[0]?.[0]?.length ?? 0, precision);
  const packed = new Uint32Array(cache.length * capacity * units * words * 2);
  cache.forEach((head, h) => {
    head.forEach((row, slot) => {
      for (const [u, unit] of unitWords(row, precision).entries())
        packed.set(unit, unitAt(h, slot, u, units) * words * 2);
    });
  });
  return packed;
};

/** K: `[kvHead][chunk of 64 slots][unit][slot in chunk]`. */
export const packKeys = (cache: PlainCache, capacity: number, precision: CachePrecision): Uint32Array<ArrayBuffer> =>
  pack(cache, capacity, precision, (head, slot, unit, units) => {
    const chunk = head * (capacity / 64) + Math.floor(slot / 64);
    return (chunk * units + unit) * 64 + (slot % 64);
  });

/** V: `[kvHead][slot][unit]`. */
export const packValues = (cache: PlainCache, capacity: number, precision: CachePrecision): Uint32Array<ArrayBuffer> =>
  pack(cache, capacity, precision, (head, slot, unit, units) => (head * capacity + slot) * units + unit);
