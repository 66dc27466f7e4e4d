// Stored elements to f32, bit for bit what llama.cpp and gguf-py give. Every value is one product, or a product and a
// sum, whose exact result fits f64: computing in f64 and rounding once at the store equals f32 arithmetic step by step.
import { OutriderError } from '../../base/errors.ts';
import { elementType } from '../element-types.ts';

export type Decoder = (view: DataView, out: Float32Array) => void;
/** By type. */
export type Decoders = Readonly<Record<string, Decoder>>;

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

/** Of plain numbers, which both file formats have. */
const NUMBERS: Decoders = {
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
};

/** All elements of `bytes`, which must be whole blocks of `type`; `blocks`: where types may be those of GGUF. */
export const dequantize = (type: string, bytes: Uint8Array, blocks?: Decoders): Float32Array<ArrayBuffer> => {
  const element = elementType(type);
  const decoder = NUMBERS[type] ?? blocks?.[type];
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
