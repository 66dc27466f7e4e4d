// GGUF's quantised blocks to f32, exactly as dequantize.ts requires.
import { type Decoder, type Decoders, halfTable } from '../quantize/dequantize.ts';
import { codebookDecoders } from './codebook-decoders.ts';

/** Q4_0, Q4_1, Q5_0, Q5_1: 32 elements; byte j holds element j low and j + 16 high, a fifth bit lies in `high`. */
const blocks32 =
  (fifthBit: boolean, minimum: boolean): Decoder =>
  (view, out) => {
    const halves = halfTable();
    const zero = minimum ? 0 : fifthBit ? 16 : 8;
    const highAt = minimum ? 4 : 2;
    const nibblesAt = highAt + (fifthBit ? 4 : 0);
    for (let at = 0, o = 0; o < out.length; at += nibblesAt + 16, o += 32) {
      const scale = halves[view.getUint16(at, true)] as number;
      const least = minimum ? (halves[view.getUint16(at + 2, true)] as number) : 0;
      const high = fifthBit ? view.getUint32(at + highAt, true) : 0;
      for (let j = 0; j < 16; j++) {
        const byte = view.getUint8(at + nibblesAt + j);
        const low = (byte & 15) | (((high >>> j) & 1) << 4);
        const top = (byte >> 4) | (((high >>> (j + 16)) & 1) << 4);
        out[o + j] = minimum ? scale * low + least : scale * (low - zero);
        out[o + j + 16] = minimum ? scale * top + least : scale * (top - zero);
      }
    }
  };

const q8: Decoder = (view, out) => {
  const halves = halfTable();
  for (let at = 0, o = 0; o < out.length; at += 34, o += 32) {
    const scale = halves[view.getUint16(at, true)] as number;
    for (let j = 0; j < 32; j++) out[o + j] = scale * view.getInt8(at + 2 + j);
  }
};

/** The 6-bit scale and minimum of group `j` (0…7) in the 12 bytes at `at` that Q4_K and Q5_K share. */
export const groupScale = (view: DataView, at: number, j: number): number =>
  j < 4 ? view.getUint8(at + j) & 63 : (view.getUint8(at + j + 4) & 15) | ((view.getUint8(at + j - 4) >> 6) << 4);
export const groupMinimum = (view: DataView, at: number, j: number): number =>
  j < 4 ? view.getUint8(at + j + 4) & 63 : (view.getUint8(at + j + 4) >> 4) | ((view.getUint8(at + j) >> 6) << 4);

/** Q4_K, Q5_K: 8 groups of 32, two groups share 32 bytes of nibbles; group j's fifth bits are bit j of `high`. */
const blocksK =
  (fifthBit: boolean): Decoder =>
  (view, out) => {
    const halves = halfTable();
    const nibblesAt = fifthBit ? 48 : 16;
    for (let at = 0, o = 0; o < out.length; at += nibblesAt + 128, o += 256) {
      const scales = halves[view.getUint16(at, true)] as number;
      const minimums = halves[view.getUint16(at + 2, true)] as number;
      for (let j = 0; j < 8; j++) {
        const scale = scales * groupScale(view, at + 4, j);
        const least = minimums * groupMinimum(view, at + 4, j);
        const nibbles = at + nibblesAt + 32 * (j >> 1);
        for (let i = 0; i < 32; i++) {
          const nibble = (view.getUint8(nibbles + i) >> (4 * (j & 1))) & 15;
          const fifth = fifthBit ? ((view.getUint8(at + 16 + i) >> j) & 1) << 4 : 0;
          out[o + 32 * j + i] = scale * (nibble | fifth) - least;
        }
      }
    }
  };

/** Q6_K: 256 elements; 128 bytes of low nibbles, 64 of high bit pairs, 16 int8 scales, the block's scale last. */
const q6k: Decoder = (view, out) => {
  const halves = halfTable();
  for (let at = 0, o = 0; o < out.length; at += 210, o += 256) {
    const scale = halves[view.getUint16(at + 208, true)] as number;
    for (let i = 0; i < 256; i++) {
      const half = i >> 7;
      const quarter = (i >> 5) & 3;
      const lane = i & 31;
      const low = view.getUint8(at + 64 * half + 32 * (quarter & 1) + lane) >> (quarter & 2 ? 4 : 0);
      const high = view.getUint8(at + 128 + 32 * half + lane) >> (2 * quarter);
      const value = ((low & 15) | ((high & 3) << 4)) - 32;
      out[o + i] = scale * view.getInt8(at + 192 + (i >> 4)) * value;
    }
  }
};

/** Q2_K: 256 elements in groups of 16, each with 4 bits of scale and 4 of minimum. */
const q2k: Decoder = (view, out) => {
  const halves = halfTable();
  for (let at = 0, o = 0; o < out.length; at += 84, o += 256) {
    const scales = halves[view.getUint16(at + 80, true)] as number;
    const minimums = halves[view.getUint16(at + 82, true)] as number;
    for (let i = 0; i < 256; i++) {
      const group = view.getUint8(at + (i >> 4));
      const value = (view.getUint8(at + 16 + 32 * (i >> 7) + (i & 31)) >> (2 * ((i >> 5) & 3))) & 3;
      out[o + i] = scales * (group & 15) * value - minimums * (group >> 4);
    }
  }
};

/** The signed 6-bit scale of group `j` (0…15) of the Q3_K block at `at`. */
export const q3kScale = (view: DataView, at: number, j: number): number => {
  const low = (view.getUint8(at + 96 + (j & 7)) >> (4 * (j >> 3))) & 15;
  const high = (view.getUint8(at + 104 + (j & 3)) >> (2 * (j >> 2))) & 3;
  return (low | (high << 4)) - 32;
};

/** The integer of element `i` of the Q3_K block at `at`: −4…3. */
export const q3kValue = (view: DataView, at: number, i: number): number => {
  const low = (view.getUint8(at + 32 + 32 * (i >> 7) + (i & 31)) >> (2 * ((i >> 5) & 3))) & 3;
  return low - ((view.getUint8(at + (i & 31)) >> (i >> 5)) & 1 ? 0 : 4);
};

/** Q3_K: 32 bytes of third bits, 64 of low bit pairs, 12 of scales, the block's scale last. */
const q3k: Decoder = (view, out) => {
  const halves = halfTable();
  for (let at = 0, o = 0; o < out.length; at += 110, o += 256) {
    const scale = halves[view.getUint16(at + 108, true)] as number;
    for (let i = 0; i < 256; i++) out[o + i] = scale * q3kScale(view, at, i >> 4) * q3kValue(view, at, i);
  }
};

/** Element `i` of the TQ1_0 block at `at`: 0, 1 or 2. A byte holds five base-3 digits, scaled up to 256. */
export const tq1Digit = (view: DataView, at: number, i: number): number => {
  const [byte, power] =
    i < 160
      ? [i % 32, i >> 5]
      : i < 240
        ? [32 + ((i - 160) % 16), (i - 160) >> 4]
        : [48 + ((i - 240) % 4), (i - 240) >> 2];
  return (((view.getUint8(at + byte) * 3 ** power) & 255) * 3) >> 8;
};

/** Element `i` of the TQ2_0 block at `at`, one more than what it stands for. */
export const tq2Digit = (view: DataView, at: number, i: number): number =>
  (view.getUint8(at + 32 * (i >> 7) + (i & 31)) >> (2 * ((i >> 5) & 3))) & 3;

const ternary =
  (bytes: number, digit: (view: DataView, at: number, i: number) => number): Decoder =>
  (view, out) => {
    const halves = halfTable();
    for (let at = 0, o = 0; o < out.length; at += bytes, o += 256) {
      const scale = halves[view.getUint16(at + bytes - 2, true)] as number;
      for (let i = 0; i < 256; i++) out[o + i] = scale * (digit(view, at, i) - 1);
    }
  };

/** Q1_0: a scale for 128 elements of one bit, its sign. */
const q1: Decoder = (view, out) => {
  const halves = halfTable();
  for (let at = 0, o = 0; o < out.length; at += 18, o += 128) {
    const scale = halves[view.getUint16(at, true)] as number;
    for (let i = 0; i < 128; i++) out[o + i] = (view.getUint8(at + 2 + (i >> 3)) >> (i & 7)) & 1 ? scale : -scale;
  }
};

export const blockDecoders: Decoders = {
  ...codebookDecoders,
  Q1_0: q1,
  Q2_K: q2k,
  Q3_K: q3k,
  TQ1_0: ternary(54, tq1Digit),
  TQ2_0: ternary(66, tq2Digit),
  Q4_0: blocks32(false, false),
  Q4_1: blocks32(false, true),
  Q5_0: blocks32(true, false),
  Q5_1: blocks32(true, true),
  Q8_0: q8,
  Q4_K: blocksK(false),
  Q5_K: blocksK(true),
  Q6_K: q6k,
};
