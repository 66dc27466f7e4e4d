import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { blockDecoders } from '../gguf/block-decoders.ts';
import { blockRepackers } from '../gguf/block-repackers.ts';
import { dequantize } from './dequantize.ts';
import { matrixLayout, type WeightFormat } from './device-layout.ts';
import { MatrixPacker, storedFormat } from './quantize.ts';
import { repackerOf } from './repack.ts';
import { unpack } from './unpack.ts';

/** Seeded, roughly normal values: sums of uniform ones. */
const noise = (count: number, seed: number): Float32Array<ArrayBuffer> => {
  let state = seed;
  const uniform = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  return Float32Array.from({ length: count }, () => uniform() + uniform() + uniform());
};

const packed = (format: WeightFormat, rows: number, columns: number, values: Float32Array): Float32Array => {
  const packer = new MatrixPacker(matrixLayout(format, rows, columns));
  packer.put(0, values);
  return unpack(packer.layout, packer);
};

/** Root of the mean square of the difference, over that of the values. */
const relativeError = (actual: Float32Array, expected: Float32Array): number => {
  let difference = 0;
  let size = 0;
  for (let i = 0; i < expected.length; i++) {
    difference += ((actual[i] as number) - (expected[i] as number)) ** 2;
    size += (expected[i] as number) ** 2;
  }
  return Math.sqrt(difference / size);
};

describe('MatrixPacker', () => {
  it.each([
    [1, 1],
    [3, 31],
    [17, 33],
    [33, 96],
  ])('keeps f32 exactly and f16 within half a last place: %i × %i', (rows, columns) => {
    const values = noise(rows * columns, rows);
    expect(packed('f32', rows, columns, values)).toEqual(values);
    const half = packed('f16', rows, columns, values);
    values.forEach((value, i) => {
      expect(Math.abs((half[i] as number) - value)).toBeLessThanOrEqual(Math.max(2 ** -25, Math.abs(value) * 2 ** -11));
    });
  });

  it.each([
    ['q8', 0.006],
    ['q6', 0.022],
    ['q4', 0.09],
    ['q4m', 0.09],
  ] as const)('%s: relative error of normal weights below %f, on awkward shapes too', (format, limit) => {
    for (const [rows, columns] of [
      [1, 32],
      [5, 33],
      [16, 576],
      [31, 97],
    ] as const) {
      const values = noise(rows * columns, columns);
      expect(relativeError(packed(format, rows, columns, values), values)).toBeLessThan(limit);
    }
  });

  it.each(['q8', 'q6', 'q4', 'q4m'] as const)('%s: reports the loss that reading back shows', (format) => {
    const values = noise(7 * 96, 3);
    const packer = new MatrixPacker(matrixLayout(format, 7, 96));
    packer.put(0, values);
    const { error, values: size } = packer.loss;
    expect(Math.sqrt(error / size)).toBeCloseTo(relativeError(unpack(packer.layout, packer), values), 6);
  });

  it('quantises what is easy without loss: zeros, one value, a range of integers', () => {
    const zeros = new Float32Array(32);
    const lone = new Float32Array(32).fill(0);
    lone[5] = -0.75;
    const range = Float32Array.from({ length: 32 }, (_, i) => (i % 15) - 7);
    range[0] = -8;
    for (const values of [zeros, lone, range]) expect(packed('q4', 1, 32, values)).toEqual(values);
    for (const format of ['q8', 'q6', 'q4m'] as const) expect(packed(format, 1, 32, zeros)).toEqual(zeros);
  });

  it('takes rows with a step and in any order, and pads with zeros', () => {
    const layout = matrixLayout('f32', 4, 32);
    const gate = noise(64, 1);
    const up = noise(64, 2);
    const packer = new MatrixPacker(layout);
    packer.put(1, up, 2);
    packer.put(2, gate.subarray(32), 2);
    packer.put(0, gate.subarray(0, 32), 2);
    const rows = unpack(layout, packer);
    expect([...rows.subarray(0, 32), ...rows.subarray(64, 96)]).toEqual([...gate]);
    expect([...rows.subarray(32, 64), ...rows.subarray(96)]).toEqual([...up]);
    const padded = unpack({ ...layout, rows: layout.paddedRows }, packer);
    expect(padded.subarray(128).every((value) => value === 0)).toBe(true);
  });

  it('names what it cannot take', () => {
    const packer = new MatrixPacker(matrixLayout('f16', 2, 32));
    const large = new Float32Array(32).fill(1e5);
    expect(() => packer.put(0, large)).toThrow(/100000 .*16-bit/);
    expect(() => packer.put(1, new Float32Array(64))).toThrow(/2 rows put at 1/);
    expect(() => packer.put(0, new Float32Array(33))).toThrow(/rows put/);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => packed('q8', 1, 32, new Float32Array(32).fill(value))).toThrow(/infinite or not a number/);
  });
});

describe('storedFormat', () => {
  it('keeps the file format unless asked, and an embedding at 6 or 8 bits', () => {
    expect(storedFormat('Q4_1', undefined, false)).toBe('q4m');
    expect(storedFormat('BF16', undefined, false)).toBe('f32');
    expect(storedFormat('Q6_K', undefined, true)).toBe('q6');
    expect(storedFormat('Q6_K', 'q4', true)).toBe('q6');
    expect(storedFormat('Q6_K', 'q4', false)).toBe('q4');
    expect(storedFormat('Q8_0', 'q4', true)).toBe('q8');
    expect(storedFormat('Q8_0', 'q4', false)).toBe('q4');
    expect(storedFormat('Q4_0', 'q4', true)).toBe('q4');
    expect(storedFormat('Q4_1', 'q8', false)).toBe('q8');
  });
});

describe.skipIf(noShared)('loss-free repacks of every golden block', () => {
  const file = (name: string, set = 'gguf-types'): Uint8Array =>
    new Uint8Array(readFileSync(shared('golden', set, name)));
  const cases = ['random', 'adversarial', 'crafted'];
  const exact = (
    [
      ['Q4_0', 'q4', 'gguf-types'],
      ['Q4_1', 'q4m', 'gguf-types'],
      ['Q5_0', 'q8', 'gguf-types'],
      ['Q8_0', 'q8', 'gguf-types'],
      ['F16', 'f16', 'gguf-types'],
      ['Q1_0', 'q4', 'gguf-types-2'],
      ['TQ1_0', 'q4', 'gguf-types-2'],
      ['TQ2_0', 'q4', 'gguf-types-2'],
      ['Q3_K', 'q8', 'gguf-types'],
      ['Q3_K', 'q8', 'gguf-types-2'],
      ['IQ4_NL', 'q8', 'gguf-types'],
      ['IQ4_NL', 'q8', 'gguf-types-2'],
    ] as const
  ).flatMap(([type, format, set]) => cases.map((name) => [type, format, name, set] as const));

  it.each([...exact, ['MXFP4', 'q8', 'random', 'gguf-types-2'] as const])(
    '%s → %s, %s of %s',
    (type, format, name, set) => {
      const bytes = file(`${type}.${name}.bin`, set);
      const packer = new MatrixPacker(matrixLayout(format, 4, 512));
      expect(packer.putRaw(0, repackerOf(type, format, blockRepackers), bytes)).toBe(true);
      // Signs of zero may differ ((8 − 8) · −s), nothing else.
      expect(unpack(packer.layout, packer).map((value) => value + 0)).toEqual(
        dequantize(type, bytes, blockDecoders).map((value) => value + 0),
      );
    },
  );

  it.each(cases)('Q4_K → q4m rounds scale and minimum to halves only: %s', (name) => {
    const bytes = file(`Q4_K.${name}.bin`);
    const expected = dequantize('Q4_K', bytes, blockDecoders);
    const packer = new MatrixPacker(matrixLayout('q4m', 4, 512));
    expect(packer.putRaw(0, repackerOf('Q4_K', 'q4m', blockRepackers), bytes)).toBe(true);
    const actual = unpack(packer.layout, packer);
    for (let group = 0; group < expected.length; group += 32) {
      const values = expected.subarray(group, group + 32);
      const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      // The range can be 16 times a step and the minimum as large: a last place of each, plus subnormal halves.
      values.forEach((value, i) => {
        expect(Math.abs((actual[group + i] as number) - value)).toBeLessThanOrEqual(largest * 2 ** -8 + 16 * 2 ** -25);
      });
    }
  });

  it.each(cases)('Q6_K → q8 gives the bits that decoding first gives: %s', (name) => {
    const bytes = file(`Q6_K.${name}.bin`);
    const [repacked, decoded] = [
      new MatrixPacker(matrixLayout('q8', 4, 512)),
      new MatrixPacker(matrixLayout('q8', 4, 512)),
    ];
    expect(repacked.putRaw(0, repackerOf('Q6_K', 'q8', blockRepackers), bytes)).toBe(true);
    decoded.put(0, dequantize('Q6_K', bytes, blockDecoders));
    expect(repacked.weights).toEqual(decoded.weights);
    expect(repacked.scales).toEqual(decoded.scales);
  });

  it.each(cases)('Q6_K → q6 rounds scales to halves only, and names one that is too large: %s', (name) => {
    const bytes = file(`Q6_K.${name}.bin`);
    const expected = dequantize('Q6_K', bytes, blockDecoders);
    const packer = new MatrixPacker(matrixLayout('q6', 4, 512));
    const repack = (): boolean => packer.putRaw(0, repackerOf('Q6_K', 'q6', blockRepackers), bytes);
    if (Math.max(...expected.map(Math.abs)) > 32 * 65504) {
      expect(repack).toThrow(/16-bit/);
      return;
    }
    expect(repack()).toBe(true);
    unpack(packer.layout, packer).forEach((value, i) => {
      const own = expected[i] as number;
      expect(Math.abs(value - own)).toBeLessThanOrEqual(Math.abs(own) * 2 ** -11 + 32 * 2 ** -25);
    });
  });

  it.each(cases)('IQ4_XS → q8 rounds scales to halves only: %s', (name) => {
    const bytes = file(`IQ4_XS.${name}.bin`);
    const expected = dequantize('IQ4_XS', bytes, blockDecoders);
    const packer = new MatrixPacker(matrixLayout('q8', 4, 512));
    expect(packer.putRaw(0, repackerOf('IQ4_XS', 'q8', blockRepackers), bytes)).toBe(true);
    unpack(packer.layout, packer).forEach((value, i) => {
      const own = expected[i] as number;
      expect(Math.abs(value - own)).toBeLessThanOrEqual(Math.abs(own) * 2 ** -11 + 127 * 2 ** -25);
    });
  });

  it('MXFP4 → q8 keeps what halves can say, and names a scale that is too large', () => {
    const block = (exponent: number): Float32Array => {
      const packer = new MatrixPacker(matrixLayout('q8', 1, 32));
      packer.putRaw(0, repackerOf('MXFP4', 'q8', blockRepackers), Uint8Array.of(exponent, ...Array(16).fill(0x97)));
      return unpack(packer.layout, packer).subarray(15, 17);
    };
    expect([...block(128 - 24)]).toEqual([12 * 2 ** -24, -(2 ** -24)]);
    expect([...block(128 + 15)]).toEqual([12 * 2 ** 15, -(2 ** 15)]);
    expect(block(100).every((value) => value === 0)).toBe(true);
    expect(() => block(144)).toThrow(/2\^16 does not fit/);
  });

  it('says no where a repack would lose', () => {
    const packer = new MatrixPacker(matrixLayout('q4', 4, 512));
    expect(packer.putRaw(0, repackerOf('Q6_K', 'q4', blockRepackers), file('Q6_K.random.bin'))).toBe(false);
    expect(packer.putRaw(0, repackerOf('Q4_1', 'q4', blockRepackers), file('Q4_1.random.bin'))).toBe(false);
  });
});
