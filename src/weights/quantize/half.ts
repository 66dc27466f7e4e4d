// f32 → f16, rounding to nearest even, for scales and for weights kept as halves. (Reading is a table: dequantize.ts.)

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

/** The bits of the half nearest to `value`; too large becomes infinity, as IEEE 754 rounds. */
export const toHalf = (value: number): number => {
  float[0] = value;
  const bits = word[0] as number;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  // 65520 and more round to infinity.
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 moves the last bit of a half (2^-24) to the last bit of the f32, which rounds it there.
    float[0] = Math.abs(value) + 0.5;
    return sign | ((word[0] as number) - 0x3f000000);
  }
  // 0xfff plus the last kept bit: ties go to even. The exponent is rebiased from 127 to 15.
  return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
};

/** Half number `index` of an array of words: the even one lies low. */
export const putHalf = (words: Uint32Array, index: number, half: number): void => {
  const known = words[index >> 1] as number;
  words[index >> 1] = index & 1 ? (known & 0xffff) | (half << 16) : (known & 0xffff0000) | half;
};
