// The device layout read back into plain rows: what a kernel's load must compute, written as slowly and plainly as
// possible. Tests of packers and kernels compare with it.
import { halfTable } from './dequantize.ts';
import type { MatrixLayout, Packed } from './device-layout.ts';

export const unpack = (layout: MatrixLayout, { weights, scales }: Packed): Float32Array<ArrayBuffer> => {
  const { format, rows, columns, paddedRows } = layout;
  const halves = halfTable();
  const half = (words: Uint32Array, index: number): number =>
    halves[((words[index >> 1] as number) >>> (16 * (index & 1))) & 0xffff] as number;
  const floats = new Float32Array(weights.buffer, weights.byteOffset, weights.length);
  const bytes = new Int8Array(weights.buffer, weights.byteOffset, weights.byteLength);
  const value = (row: number, k: number): number => {
    if (format === 'f32') return floats[((k >> 2) * paddedRows + row) * 4 + (k & 3)] as number;
    if (format === 'f16') return half(weights, ((k >> 3) * paddedRows + row) * 8 + (k & 7));
    const cell = (k >> 5) * paddedRows + row;
    const lane = k & 31;
    if (format === 'q8') {
      const at = (2 * (k >> 5) + (lane >> 4)) * paddedRows + row;
      return (bytes[at * 16 + (lane & 15)] as number) * half(scales, cell);
    }
    // Word lane / 8; the byte is lane % 4; the high nibble holds the second four of the eight.
    const nibble = ((weights[cell * 4 + (lane >> 3)] as number) >>> (8 * (lane & 3) + (lane & 4))) & 15;
    if (format === 'q4') return (nibble - 8) * half(scales, cell);
    if (format === 'q6') {
      // Plane 0 has the scales; planes 1 and 2 the high bits of 16 weights each, those of weight i in byte i % 4.
      const plane = (p: number): number => (3 * (k >> 5) + p) * paddedRows + row;
      const high = ((scales[plane(1 + (lane >> 4))] as number) >>> (8 * (lane & 3) + 2 * ((lane >> 2) & 3))) & 3;
      return (nibble + 16 * high - 32) * half(scales, 2 * plane(0) + (lane >> 4));
    }
    return nibble * half(scales, 2 * cell) + half(scales, 2 * cell + 1);
  };
  return Float32Array.from({ length: rows * columns }, (_, i) => value(Math.floor(i / columns), i % columns));
};
