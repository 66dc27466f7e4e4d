// Stored elements to f32, bit for bit what llama.cpp and gguf-py give. Every value is one product, or a product and a
// sum, whose exact result fits f64: computing in f64 and rounding once at the store equals f32 arithmetic step by step.
import { OutriderError } from '../errors.ts';
import { elementType } from './types.ts';

type Decoder = (view: DataView, out: Float32Array) => void;

/** Bits of a small float with `mantissa` bits and the given exponent bias, by the definition of IEEE 754. */
const smallFloat = (bits: number, exponentBits: number, mantissaBits: number): number => {
  const bias = 2 ** (exponentBits - 1) - 1;
  const sign = bits >> (exponentBits + mantissaBits) ? -1 : 1;
  const exponent = (bits >> mantissaBits) & (2 ** exponentBits - 1);
  const mantissa = (bits & (2 ** mantissaBits - 1)) / 2 ** mantissaBits;
  if (exponent === 0) return sign * mantissa * 2 ** (1 - bias);
  if (exponent === 2 ** exponentBits - 1) return mantissa ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + mantissa) * 2 ** (exponent - bias);
};

/** E4M3 as checkpoints use it ("FN"): no infinities, only the all-ones pattern is NaN, the top exponent is ordinary. */
const e4m3 = (bits: number): number => {
  const exponent = (bits >> 3) & 15;
  if (exponent < 15) return smallFloat(bits, 4, 3);
  const mantissa = bits & 7;
  return mantissa === 7 ? Number.NaN : (bits >> 7 ? -1 : 1) * (1 + mantissa / 8) * 256;
};

const table = (size: number, value: (bits: number) => number): (() => Float32Array) => {
  let known: Float32Array | undefined;
  return () => {
    known ??= Float32Array.from({ length: size }, (_, bits) => value(bits));
    return known;
  };
};

/** All halves as f32, 256 KiB: indexing it is the fastest decoding there is without a Float16Array. */
export const halfTable = table(65536, (bits) => smallFloat(bits, 5, 10));
const e4m3Table = table(256, e4m3);
const e5m2Table = table(256, (bits) => smallFloat(bits, 5, 2));

const bytesOf = (view: DataView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

const lookup =
  (values: () => Float32Array): Decoder =>
  (view, out) => {
    const known = values();
    const bytes = bytesOf(view);
    for (let i = 0; i < out.length; i++) out[i] = known[bytes[i] as number] as number;
  };

const each =
  (bytes: number, read: (view: DataView, at: number) => number): Decoder =>
  (view, out) => {
    for (let i = 0; i < out.length; i++) out[i] = read(view, i * bytes);
  };

const bf16: Decoder = (view, out) => {
  const bits = new Uint32Array(out.buffer, out.byteOffset, out.length);
  for (let i = 0; i < bits.length; i++) bits[i] = view.getUint16(2 * i, true) << 16;
};

const f32: Decoder = (view, out) => new Uint8Array(out.buffer, out.byteOffset, out.byteLength).set(bytesOf(view));

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

const DECODERS: Readonly<Record<string, Decoder>> = {
  F64: each(8, (view, at) => view.getFloat64(at, true)),
  F32: f32,
  F16: (view, out) => {
    const halves = halfTable();
    for (let i = 0; i < out.length; i++) out[i] = halves[view.getUint16(2 * i, true)] as number;
  },
  BF16: bf16,
  F8_E4M3: lookup(e4m3Table),
  F8_E5M2: lookup(e5m2Table),
  I64: each(8, (view, at) => Number(view.getBigInt64(at, true))),
  U64: each(8, (view, at) => Number(view.getBigUint64(at, true))),
  I32: each(4, (view, at) => view.getInt32(at, true)),
  U32: each(4, (view, at) => view.getUint32(at, true)),
  I16: each(2, (view, at) => view.getInt16(at, true)),
  U16: each(2, (view, at) => view.getUint16(at, true)),
  I8: each(1, (view, at) => view.getInt8(at)),
  U8: each(1, (view, at) => view.getUint8(at)),
  BOOL: each(1, (view, at) => view.getUint8(at)),
  Q4_0: blocks32(false, false),
  Q4_1: blocks32(false, true),
  Q5_0: blocks32(true, false),
  Q5_1: blocks32(true, true),
  Q8_0: q8,
  Q4_K: blocksK(false),
  Q5_K: blocksK(true),
  Q6_K: q6k,
};

/** All elements of `bytes`, which must be whole blocks of `type`. */
export const dequantize = (type: string, bytes: Uint8Array): Float32Array<ArrayBuffer> => {
  const element = elementType(type);
  const decoder = DECODERS[type];
  if (!element || !decoder) throw new OutriderError('bug', `no decoder for weights of type ${type}`);
  if (bytes.byteLength % element.bytes)
    throw new OutriderError(
      'bug',
      `${bytes.byteLength} bytes are not whole blocks of ${type} (${element.bytes} bytes)`,
    );
  const out = new Float32Array((bytes.byteLength / element.bytes) * element.elements);
  decoder(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), out);
  return out;
};
