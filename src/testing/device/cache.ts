// The key-value cache as plain arrays: `[kvHead][slot][dimension]`, packed into the layouts that the kernels use.
import { toHalf } from '../../weights/quantize/half.ts';

export type PlainCache = readonly (readonly (readonly number[])[])[];

const words = (elements: Float32Array, asHalf: boolean): Uint32Array =>
  asHalf
    ? new Uint32Array(Uint16Array.from(elements, toHalf).buffer)
    : new Uint32Array(elements.buffer, 0, elements.length);

/** K: `[kvHead][chunk of 64 slots][dimension / 4][slot in chunk][4]`. */
export const packKeys = (cache: PlainCache, capacity: number, asHalf: boolean): Uint32Array => {
  const dimensions = cache[0]?.[0]?.length ?? 0;
  const elements = new Float32Array(cache.length * capacity * dimensions);
  cache.forEach((head, h) => {
    head.forEach((key, slot) => {
      const chunk = h * (capacity / 64) + Math.floor(slot / 64);
      key.forEach((x, d) => {
        elements[((chunk * (dimensions / 4) + Math.floor(d / 4)) * 64 + (slot % 64)) * 4 + (d % 4)] = x;
      });
    });
  });
  return words(elements, asHalf);
};

/** V: `[kvHead][slot][dimension]`. */
export const packValues = (cache: PlainCache, capacity: number, asHalf: boolean): Uint32Array => {
  const dimensions = cache[0]?.[0]?.length ?? 0;
  const elements = new Float32Array(cache.length * capacity * dimensions);
  cache.forEach((head, h) => {
    head.forEach((value, slot) => {
      elements.set(value, (h * capacity + slot) * dimensions);
    });
  });
  return words(elements, asHalf);
};
