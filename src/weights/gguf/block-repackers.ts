// GGUF's quantised blocks → device quantisation without decoding: the same integers and scales in another order. Q4_K
// and IQ4_XS round the scale: it is a product of a half and a 6-bit integer, and the device keeps a half. Q6_K has a
// scale for 16 weights, as q6 has: a product of a half and an 8-bit integer, which is rounded too. At 8 bits its weights
// are quantised anew, to the bits that decoding them first would give.
import { bad } from '../../base/refuse.ts';
import { halfTable } from '../quantize/dequantize.ts';
import { putHalf, toHalf } from '../quantize/half.ts';
import { quantizeBytes } from '../quantize/quantize-group.ts';
import type { Repacker, Repackers } from '../quantize/repack.ts';
import { groupMinimum, groupScale, q3kScale, q3kValue, tq1Digit, tq2Digit } from './block-decoders.ts';
import { FP4_LEVELS, IQ4_LEVELS, iq4xsScale } from './codebook-decoders.ts';

const LOW = 0x0f0f0f0f;
const HIGH = 0xf0f0f0f0;
const TWO = 0x03030303;

/** 16 bytes with element j low and j + 16 high (Q4_0, Q4_1) into a cell: 8c + b low, 8c + 4 + b high. */
const moveNibbles = (view: DataView, at: number, weights: Uint32Array, cell: number): void => {
  const a = view.getUint32(at, true);
  const b = view.getUint32(at + 4, true);
  const c = view.getUint32(at + 8, true);
  const d = view.getUint32(at + 12, true);
  weights[cell * 4] = (a & LOW) | ((b & LOW) << 4);
  weights[cell * 4 + 1] = (c & LOW) | ((d & LOW) << 4);
  weights[cell * 4 + 2] = ((a >>> 4) & LOW) | (b & HIGH);
  weights[cell * 4 + 3] = ((c >>> 4) & LOW) | (d & HIGH);
};

const q4: Repacker = {
  elements: 32,
  bytes: 18,
  row: (view, at, layout, { weights, scales }, row) => {
    for (let g = 0; g < layout.groups; g++) {
      const cell = g * layout.paddedRows + row;
      putHalf(scales, cell, view.getUint16(at + 18 * g, true));
      moveNibbles(view, at + 18 * g + 2, weights, cell);
    }
  },
};

const q4m: Repacker = {
  elements: 32,
  bytes: 20,
  row: (view, at, layout, { weights, scales }, row) => {
    for (let g = 0; g < layout.groups; g++) {
      const cell = g * layout.paddedRows + row;
      // Scale and minimum lie as the device wants them.
      scales[cell] = view.getUint32(at + 20 * g, true);
      moveNibbles(view, at + 20 * g + 4, weights, cell);
    }
  },
};

const q8: Repacker = {
  elements: 32,
  bytes: 34,
  row: (view, at, layout, { weights, scales }, row) => {
    for (let g = 0; g < layout.groups; g++) {
      const from = at + 34 * g;
      putHalf(scales, g * layout.paddedRows + row, view.getUint16(from, true));
      for (let h = 0; h < 2; h++) {
        const to = ((2 * g + h) * layout.paddedRows + row) * 4;
        for (let c = 0; c < 4; c++) weights[to + c] = view.getUint32(from + 2 + 16 * h + 4 * c, true);
      }
    }
  },
};

/**
 * Five bits fit in eight, with the same scale. Element j has its low bits in byte j, element j + 16 in the high nibble.
 */
const q5: Repacker = {
  elements: 32,
  bytes: 22,
  row: (view, at, layout, { weights, scales }, row) => {
    for (let g = 0; g < layout.groups; g++) {
      const from = at + 22 * g;
      putHalf(scales, g * layout.paddedRows + row, view.getUint16(from, true));
      const fifths = view.getUint32(from + 2, true);
      for (let h = 0; h < 2; h++) {
        const to = ((2 * g + h) * layout.paddedRows + row) * 4;
        for (let c = 0; c < 4; c++) {
          let word = 0;
          for (let b = 0; b < 4; b++) {
            const j = 4 * c + b;
            const low = (view.getUint8(from + 6 + j) >> (4 * h)) & 15;
            const value = (low | (((fifths >>> (16 * h + j)) & 1) << 4)) - 16;
            word |= (value & 0xff) << (8 * b);
          }
          weights[to + c] = word;
        }
      }
    }
  },
};

/** Groups 2p and 2p + 1 of a block share 32 bytes: low nibbles the first, high nibbles the second, in order. */
const q4k: Repacker = {
  elements: 256,
  bytes: 144,
  row: (view, at, layout, { weights, scales }, row) => {
    const halves = halfTable();
    for (let g = 0; g < layout.groups; g++) {
      const block = at + 144 * (g >> 3);
      const j = g & 7;
      const scale = (halves[view.getUint16(block, true)] as number) * groupScale(view, block + 4, j);
      const minimum = (halves[view.getUint16(block + 2, true)] as number) * groupMinimum(view, block + 4, j);
      const cell = g * layout.paddedRows + row;
      scales[cell] = toHalf(scale) | (toHalf(-minimum) << 16);
      const nibbles = block + 16 + 32 * (j >> 1);
      const shift = 4 * (j & 1);
      for (let c = 0; c < 4; c++) {
        const low = (view.getUint32(nibbles + 8 * c, true) >>> shift) & LOW;
        const high = (view.getUint32(nibbles + 8 * c + 4, true) >>> shift) & LOW;
        weights[cell * 4 + c] = low | (high << 4);
      }
    }
  },
};

/** The integers of the group at hand. */
const values = new Int32Array(32);

/** Fills `values` from group `g` of the block at `at`, and gives the half that multiplies them. */
type ReadGroup = (view: DataView, at: number, g: number) => number;

/** Types whose integers fit in a byte, by group of 32. */
const bytesOf = (elements: number, bytes: number, read: ReadGroup): Repacker => ({
  elements,
  bytes,
  row: (view, at, layout, { weights, scales }, row) => {
    const groups = elements / 32;
    for (let g = 0; g < layout.groups; g++) {
      const half = read(view, at + bytes * Math.floor(g / groups), g % groups);
      putHalf(scales, g * layout.paddedRows + row, half);
      for (let c = 0; c < 8; c++) {
        let word = 0;
        for (let b = 0; b < 4; b++) word |= ((values[4 * c + b] as number) & 0xff) << (8 * b);
        weights[((2 * g + (c >> 2)) * layout.paddedRows + row) * 4 + (c & 3)] = word;
      }
    }
  },
});

/** Types whose integers are −8…7. */
const nibblesOf = (elements: number, bytes: number, read: ReadGroup): Repacker => ({
  elements,
  bytes,
  row: (view, at, layout, { weights, scales }, row) => {
    const groups = elements / 32;
    for (let g = 0; g < layout.groups; g++) {
      const cell = g * layout.paddedRows + row;
      putHalf(scales, cell, read(view, at + bytes * Math.floor(g / groups), g % groups));
      for (let c = 0; c < 4; c++) {
        let word = 0;
        for (let b = 0; b < 4; b++) {
          const [low, high] = [values[8 * c + b] as number, values[8 * c + 4 + b] as number];
          word |= ((low + 8) | ((high + 8) << 4)) << (8 * b);
        }
        weights[cell * 4 + c] = word;
      }
    }
  },
});

const q1 = nibblesOf(128, 18, (view, at, g) => {
  const bits = view.getUint32(at + 2 + 4 * g, true);
  for (let i = 0; i < 32; i++) values[i] = (bits >>> i) & 1 ? 1 : -1;
  return view.getUint16(at, true);
});

const ternary = (bytes: number, digit: (view: DataView, at: number, i: number) => number): Repacker =>
  nibblesOf(256, bytes, (view, at, g) => {
    for (let i = 0; i < 32; i++) values[i] = digit(view, at, 32 * g + i) - 1;
    return view.getUint16(at + bytes - 2, true);
  });

/** A 6-bit scale times a 3-bit integer is −124…128: with the sign of both factors changed it fits in a byte. */
const q3k = bytesOf(256, 110, (view, at, g) => {
  for (let i = 0; i < 32; i++) {
    const element = 32 * g + i;
    values[i] = -q3kScale(view, at, element >> 4) * q3kValue(view, at, element);
  }
  return view.getUint16(at + 108, true) ^ 0x8000;
});

/** 16 bytes with element j low and j + 16 high, each a number of a level. */
const readLevels = (view: DataView, at: number, levels: readonly number[]): void => {
  for (let j = 0; j < 16; j++) {
    const byte = view.getUint8(at + j);
    values[j] = levels[byte & 15] as number;
    values[j + 16] = levels[byte >> 4] as number;
  }
};

/** Four integers from 0 to 63 of Q6_K's group g, a byte each: elements i to i + 3. */
const sixBits = (view: DataView, at: number, g: number, i: number): number => {
  const nibbles = (view.getUint32(at + 64 * (g >> 2) + 32 * (g & 1) + i, true) >>> (2 * (g & 2))) & LOW;
  return nibbles | (((view.getUint32(at + 128 + 32 * (g >> 2) + i, true) >>> (2 * (g & 3))) & TWO) << 4);
};

/** Of half a group. */
const sixBitScale = (view: DataView, at: number, g: number, half: number): number => {
  const scale = (halfTable()[view.getUint16(at + 208, true)] as number) * view.getInt8(at + 192 + 2 * g + half);
  if (!Number.isFinite(scale)) throw bad('a weight is infinite or not a number');
  return scale;
};

/** The half of a scale of q6. */
const sixBitHalf = (view: DataView, at: number, g: number, half: number): number => {
  const made = toHalf(sixBitScale(view, at, g, half));
  if ((made & 0x7c00) === 0x7c00)
    throw bad('a scale of a Q6_K weight does not fit 16-bit floats', 'Load the model with precision f32 or q8.');
  return made;
};

/** As quantizeQ6 puts them, four integers at a time: low nibbles into the cell, two high bits each into its planes. */
const q6k: Repacker = {
  elements: 256,
  bytes: 210,
  row: (view, at, layout, { weights, scales }, row) => {
    const { groups, paddedRows } = layout;
    for (let g = 0; g < groups; g++) {
      const block = at + 210 * (g >> 3);
      const own = g & 7;
      const cell = 4 * (g * paddedRows + row);
      const plane = 3 * g * paddedRows + row;
      for (let half = 0; half < 2; half++) {
        const a = sixBits(view, block, own, 16 * half);
        const b = sixBits(view, block, own, 16 * half + 4);
        const c = sixBits(view, block, own, 16 * half + 8);
        const d = sixBits(view, block, own, 16 * half + 12);
        weights[cell + 2 * half] = (a & LOW) | ((b & LOW) << 4);
        weights[cell + 2 * half + 1] = (c & LOW) | ((d & LOW) << 4);
        scales[plane + (1 + half) * paddedRows] =
          ((a >>> 4) & TWO) | (((b >>> 4) & TWO) << 2) | (((c >>> 4) & TWO) << 4) | (((d >>> 4) & TWO) << 6);
      }
      scales[plane] = sixBitHalf(view, block, own, 0) | (sixBitHalf(view, block, own, 1) << 16);
    }
  },
};

/** A group's 32 values as the decoder gives them, and what quantizeQ8 makes of them. */
const products = new Float32Array(32);
const q6kBytes = bytesOf(256, 210, (view, at, g) => {
  let largest = 0;
  for (let half = 0; half < 2; half++) {
    const factor = sixBitScale(view, at, g, half);
    for (let i = 16 * half; i < 16 * half + 16; i += 4) {
      const word = sixBits(view, at, g, i);
      for (let b = 0; b < 4; b++) {
        const product = Math.fround(factor * (((word >>> (8 * b)) & 63) - 32));
        products[i + b] = product;
        if (Math.abs(product) > largest) largest = Math.abs(product);
      }
    }
  }
  return quantizeBytes(products, largest, values);
});

const iq4nl = bytesOf(32, 18, (view, at) => {
  readLevels(view, at + 2, IQ4_LEVELS);
  return view.getUint16(at, true);
});

const iq4xs = bytesOf(256, 136, (view, at, g) => {
  readLevels(view, at + 8 + 16 * g, IQ4_LEVELS);
  return toHalf((halfTable()[view.getUint16(at, true)] as number) * iq4xsScale(view, at, g));
});

/** A scale below the smallest half, 2⁻²⁴, becomes zero or that half. */
const mxfp4 = bytesOf(32, 17, (view, at) => {
  const exponent = view.getUint8(at) - 128;
  readLevels(view, at + 1, FP4_LEVELS);
  if (exponent > 15)
    throw bad(`an MXFP4 scale of 2^${exponent} does not fit 16-bit floats`, 'Load the model with precision f32.');
  return toHalf(2 ** exponent);
});

export const blockRepackers: Repackers = {
  'Q4_0→q4': q4,
  'Q4_1→q4m': q4m,
  'Q4_K→q4m': q4k,
  'Q5_0→q8': q5,
  'Q8_0→q8': q8,
  'Q1_0→q4': q1,
  'TQ1_0→q4': ternary(54, tq1Digit),
  'TQ2_0→q4': ternary(66, tq2Digit),
  'Q3_K→q8': q3k,
  'Q6_K→q6': q6k,
  'Q6_K→q8': q6kBytes,
  'IQ4_NL→q8': iq4nl,
  'IQ4_XS→q8': iq4xs,
  'MXFP4→q8': mxfp4,
};
