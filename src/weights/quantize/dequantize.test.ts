import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { blockDecoders } from '../gguf/block-decoders.ts';
import { dequantize } from './dequantize.ts';

const words = (values: Float32Array): Uint32Array => new Uint32Array(values.buffer, values.byteOffset, values.length);
const decode = (type: string, ...bytes: number[]): number[] => [...dequantize(type, Uint8Array.from(bytes))];

describe.skipIf(noShared).each(['gguf-types', 'gguf-types-2'])(
  '%s against gguf-py and llama.cpp, bit for bit',
  (set) => {
    const folder = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(shared('golden', set, name)));
    const types = noShared ? {} : JSON.parse(readFileSync(shared('golden', set, 'index.json'), 'utf8')).types;
    const rows = Object.keys(types).flatMap((type) =>
      Object.entries(types[type].cases).map(([name, files]) => ({ type, name, files })),
    );

    it('has cases of every type', () => expect(rows).toHaveLength(set === 'gguf-types' ? 45 : 40));

    it.each(rows)('$type $name', ({ type, files }) => {
      const { bin, f32 } = files as { bin: string; f32: string };
      const expected = new Uint32Array(folder(f32).buffer);
      expect(words(dequantize(type, folder(bin), blockDecoders))).toEqual(expected);
      // The same from an odd address: row blocks are views into larger reads.
      const shifted = new Uint8Array(folder(bin).length + 1);
      shifted.set(folder(bin), 1);
      expect(words(dequantize(type, shifted.subarray(1), blockDecoders))).toEqual(expected);
    });
  },
);

describe('dequantize', () => {
  it('reads halves: subnormals, largest, infinities, NaN', () => {
    expect(decode('F16', 1, 0, 0xff, 3, 0, 4, 0xff, 0x7b, 0, 0x7c, 0, 0xfc, 0, 0x80)).toEqual([
      2 ** -24,
      1023 * 2 ** -24,
      2 ** -14,
      65504,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      -0,
    ]);
    expect(decode('F16', 1, 0x7e)).toEqual([Number.NaN]);
  });

  it('reads E4M3 with its top exponent as ordinary numbers', () => {
    expect(decode('F8_E4M3', 0x7e, 0xfe, 0x01, 0x38, 0x08)).toEqual([448, -448, 2 ** -9, 1, 2 ** -6]);
    expect(decode('F8_E4M3', 0x7f, 0xff)).toEqual([Number.NaN, Number.NaN]);
  });

  it('reads E5M2 as the upper byte of a half', () => {
    for (let byte = 0; byte < 256; byte++) expect(decode('F8_E5M2', byte)).toEqual(decode('F16', 0, byte));
  });

  it('reads integers: a draft vocabulary map is I64', () => {
    expect(decode('I64', 5, 1, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255)).toEqual([261, -1]);
    expect(decode('I32', 254, 255, 255, 255)).toEqual([-2]);
    expect(decode('U8', 200)).toEqual([200]);
  });

  it('refuses a part of a block and an unknown type', () => {
    expect(() => dequantize('Q4_0', new Uint8Array(17), blockDecoders)).toThrow(
      /17 bytes are not whole blocks of Q4_0/,
    );
    expect(() => dequantize('Q8_1', new Uint8Array(36), blockDecoders)).toThrow(/Q8_1/);
  });
});
