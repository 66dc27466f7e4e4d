// The key-value cache as plain arrays: `[kvHead][slot][dimension]`, packed into the layouts that the kernels use.

import { quantizeReference } from '../../kernels/cache/cache-precision.reference.ts';
import { type CachePrecision, unitsOf } from '../../kernels/cache/cache-precision.ts';
import { toHalf } from '../../weights/quantize/half.ts';

export type PlainCache = readonly (readonly (readonly number[])[])[];

/** A key or value of one head as words of 32 bits, unit after unit. */
const rowWords = (row: readonly number[], precision: CachePrecision): Uint32Array<ArrayBuffer> => {
  if (precision === 'f32') return new Uint32Array(Float32Array.from(row).buffer);
  if (precision === 'f16') return new Uint32Array(Uint16Array.from(row, toHalf).buffer);
  const { integers, scales } = quantizeReference(row);
  const bytes = new Uint32Array(Int8Array.from(integers).buffer);
  const half = bytes.length / 2;
  const pairs = Uint32Array.from(bytes, (_, i) => bytes[(i % 2) * half + Math.floor(i / 2)] as number);
  const words = new Uint32Array(pairs.length + scales.length);
  words.set(pairs);
  words.set(new Uint32Array(scales.slice().buffer), pairs.length);
  return words;
};

const pack = (
  cache: PlainCache,
  capacity: number,
  precision: CachePrecision,
  unitAt: (head: number, slot: number, unit: number, units: number) => number,
): Uint32Array<ArrayBuffer> => {
  const { units, words } = unitsOf(cache[0]?.[0]?.length ?? 0, precision);
  const width = words * 2;
  const packed = new Uint32Array(cache.length * capacity * units * width);
  cache.forEach((head, h) => {
    head.forEach((row, slot) => {
      const all = rowWords(row, precision);
      for (let u = 0; u < units; u++)
        packed.set(all.subarray(u * width, (u + 1) * width), unitAt(h, slot, u, units) * width);
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
