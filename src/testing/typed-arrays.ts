// Typed arrays are compared byte by byte first: element by element takes seconds where kernels return thousands of
// numbers. Arrays that differ go on to the comparison of every element, which words the failure.
import { expect } from 'vitest';

expect.addEqualityTesters([
  (a: unknown, b: unknown): boolean | undefined => {
    if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b) || a.constructor !== b.constructor) return undefined;
    const [x, y] = [a, b].map((view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    return Buffer.compare(x as Uint8Array, y as Uint8Array) === 0 || undefined;
  },
]);
