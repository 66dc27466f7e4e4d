// GGUF's types whose stored codes choose values from a table (IQ…, MXFP4, NVFP4) to f32, exactly as dequantize.ts
// requires. Layouts: ggml's src/ggml-common.h and ggml-quants.c.
import { type Decoder, type Decoders, halfTable } from '../quantize/dequantize.ts';
import { IQ1, IQ2_S, IQ2_XS, IQ2_XXS, IQ3_S, IQ3_XXS } from './codebooks.ts';

/** The sixteen levels of IQ4_NL and IQ4_XS. */
export const IQ4_LEVELS = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113] as const;
/** The sixteen values of a 4-bit float (E2M1), doubled. */
export const FP4_LEVELS = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12] as const;

/** `count` bytes of nibbles: byte j holds element j low and element j + count high. */
const nibbles = (
  view: DataView,
  at: number,
  count: number,
  out: Float32Array,
  o: number,
  levels: readonly number[],
  scale: number,
): void => {
  for (let j = 0; j < count; j++) {
    const byte = view.getUint8(at + j);
    out[o + j] = scale * (levels[byte & 15] as number);
    out[o + j + count] = scale * (levels[byte >> 4] as number);
  }
};

const iq4nl: Decoder = (view, out) => {
  const halves = halfTable();
  for (let at = 0, o = 0; o < out.length; at += 18, o += 32)
    nibbles(view, at + 2, 16, out, o, IQ4_LEVELS, halves[view.getUint16(at, true)] as number);
};

/** The 6-bit scale of group `g` (0…7) of the IQ4_XS block at `at`. */
export const iq4xsScale = (view: DataView, at: number, g: number): number => {
  const low = (view.getUint8(at + 4 + (g >> 1)) >> (4 * (g & 1))) & 15;
  const high = (view.getUint16(at + 2, true) >> (2 * g)) & 3;
  return (low | (high << 4)) - 32;
};

const iq4xs: Decoder = (view, out) => {
  const halves = halfTable();
  for (let at = 0, o = 0; o < out.length; at += 136, o += 256) {
    const scale = halves[view.getUint16(at, true)] as number;
    for (let g = 0; g < 8; g++)
      nibbles(view, at + 8 + 16 * g, 16, out, o + 32 * g, IQ4_LEVELS, scale * iq4xsScale(view, at, g));
  }
};

/** The scale is a power of two; its exponent counts from 128, because the levels are doubled. */
const mxfp4: Decoder = (view, out) => {
  for (let at = 0, o = 0; o < out.length; at += 17, o += 32)
    nibbles(view, at + 1, 16, out, o, FP4_LEVELS, 2 ** (view.getUint8(at) - 128));
};

/** Half of an E4M3 float without its sign, because the levels are doubled; its NaN means 0. */
const nvfp4Scale = (bits: number): number => {
  const [exponent, mantissa] = [(bits >> 3) & 15, bits & 7];
  if (bits === 0x7f) return 0;
  return exponent === 0 ? mantissa * 2 ** -10 : (8 + mantissa) * 2 ** (exponent - 11);
};

const nvfp4: Decoder = (view, out) => {
  for (let at = 0, o = 0; o < out.length; at += 36, o += 64)
    for (let g = 0; g < 4; g++)
      nibbles(view, at + 4 + 8 * g, 8, out, o + 16 * g, FP4_LEVELS, nvfp4Scale(view.getUint8(at + g)));
};

/** `width` values of `code`, a set bit of `signs` turning one's sign. */
const put = (
  out: Float32Array,
  o: number,
  book: Int8Array,
  width: number,
  code: number,
  scale: number,
  signs: number,
): void => {
  for (let i = 0; i < width; i++) {
    const value = scale * (book[code * width + i] as number);
    out[o + i] = (signs >> i) & 1 ? -value : value;
  }
};

/** Seven signs are stored; the eighth makes their number even. */
const eightSigns = (seven: number): number => {
  let ones = seven;
  ones ^= ones >> 4;
  ones ^= ones >> 2;
  ones ^= ones >> 1;
  return seven | ((ones & 1) << 7);
};

const iq2xxs: Decoder = (view, out) => {
  const [halves, book] = [halfTable(), IQ2_XXS()];
  for (let at = 0, o = 0; o < out.length; at += 66, o += 256)
    for (let g = 0; g < 8; g++) {
      const signs = view.getUint32(at + 2 + 8 * g + 4, true);
      const scale = (halves[view.getUint16(at, true)] as number) * (0.5 + (signs >>> 28)) * 0.25;
      for (let c = 0; c < 4; c++) {
        const code = view.getUint8(at + 2 + 8 * g + c);
        put(out, o + 32 * g + 8 * c, book, 8, code, scale, eightSigns((signs >>> (7 * c)) & 127));
      }
    }
};

const iq2xs: Decoder = (view, out) => {
  const [halves, book] = [halfTable(), IQ2_XS()];
  for (let at = 0, o = 0; o < out.length; at += 74, o += 256)
    for (let c = 0; c < 32; c++) {
      const code = view.getUint16(at + 2 + 2 * c, true);
      const level = (view.getUint8(at + 66 + (c >> 2)) >> (4 * ((c >> 1) & 1))) & 15;
      const scale = (halves[view.getUint16(at, true)] as number) * (0.5 + level) * 0.25;
      put(out, o + 8 * c, book, 8, code & 511, scale, eightSigns(code >> 9));
    }
};

const iq2s: Decoder = (view, out) => {
  const [halves, book] = [halfTable(), IQ2_S()];
  for (let at = 0, o = 0; o < out.length; at += 82, o += 256)
    for (let c = 0; c < 32; c++) {
      const high = (view.getUint8(at + 66 + (c >> 2)) >> (2 * (c & 3))) & 3;
      const level = (view.getUint8(at + 74 + (c >> 2)) >> (4 * ((c >> 1) & 1))) & 15;
      const scale = (halves[view.getUint16(at, true)] as number) * (0.5 + level) * 0.25;
      const code = view.getUint8(at + 2 + c) | (high << 8);
      put(out, o + 8 * c, book, 8, code, scale, view.getUint8(at + 34 + c));
    }
};

const iq3xxs: Decoder = (view, out) => {
  const [halves, book] = [halfTable(), IQ3_XXS()];
  for (let at = 0, o = 0; o < out.length; at += 98, o += 256)
    for (let g = 0; g < 8; g++) {
      const signs = view.getUint32(at + 66 + 4 * g, true);
      const scale = (halves[view.getUint16(at, true)] as number) * (0.5 + (signs >>> 28)) * 0.5;
      for (let c = 0; c < 8; c++) {
        const four = eightSigns((signs >>> (7 * (c >> 1))) & 127) >> (4 * (c & 1));
        put(out, o + 32 * g + 4 * c, book, 4, view.getUint8(at + 2 + 8 * g + c), scale, four);
      }
    }
};

const iq3s: Decoder = (view, out) => {
  const [halves, book] = [halfTable(), IQ3_S()];
  for (let at = 0, o = 0; o < out.length; at += 110, o += 256)
    for (let c = 0; c < 64; c++) {
      const high = (view.getUint8(at + 66 + (c >> 3)) >> (c & 7)) & 1;
      const level = (view.getUint8(at + 106 + (c >> 4)) >> (4 * ((c >> 3) & 1))) & 15;
      const scale = (halves[view.getUint16(at, true)] as number) * (1 + 2 * level);
      const four = view.getUint8(at + 74 + (c >> 1)) >> (4 * (c & 1));
      put(out, o + 4 * c, book, 4, view.getUint8(at + 2 + c) | (high << 8), scale, four);
    }
};

/** All eight values of an IQ1 code are moved by the same eighth. */
const putMoved = (out: Float32Array, o: number, code: number, scale: number, moved: number): void => {
  const book = IQ1();
  for (let i = 0; i < 8; i++) out[o + i] = scale * ((book[code * 8 + i] as number) + moved);
};

const iq1s: Decoder = (view, out) => {
  const halves = halfTable();
  for (let at = 0, o = 0; o < out.length; at += 50, o += 256)
    for (let c = 0; c < 32; c++) {
      const group = view.getUint16(at + 34 + 2 * (c >> 2), true);
      const scale = (halves[view.getUint16(at, true)] as number) * (2 * ((group >> 12) & 7) + 1);
      const high = (group >> (3 * (c & 3))) & 7;
      putMoved(out, o + 8 * c, view.getUint8(at + 2 + c) | (high << 8), scale, group & 0x8000 ? -0.125 : 0.125);
    }
};

/** The block's scale lies in the upper four bits of its four words of group scales. */
const iq1m: Decoder = (view, out) => {
  const halves = halfTable();
  for (let at = 0, o = 0; o < out.length; at += 56, o += 256) {
    const words = [0, 1, 2, 3].map((i) => view.getUint16(at + 48 + 2 * i, true));
    const half = words.reduce((bits, word, i) => bits | ((word >> 12) << (4 * i)), 0);
    for (let c = 0; c < 32; c++) {
      const level = ((words[c >> 3] as number) >> (3 * ((c >> 1) & 3))) & 7;
      const scale = (halves[half] as number) * (2 * level + 1);
      const high = view.getUint8(at + 32 + (c >> 1)) >> (4 * (c & 1));
      putMoved(out, o + 8 * c, view.getUint8(at + c) | ((high & 7) << 8), scale, high & 8 ? -0.125 : 0.125);
    }
  }
};

export const codebookDecoders: Decoders = {
  IQ1_S: iq1s,
  IQ1_M: iq1m,
  IQ2_XXS: iq2xxs,
  IQ2_XS: iq2xs,
  IQ2_S: iq2s,
  IQ3_XXS: iq3xxs,
  IQ3_S: iq3s,
  IQ4_NL: iq4nl,
  IQ4_XS: iq4xs,
  MXFP4: mxfp4,
  NVFP4: nvfp4,
};
