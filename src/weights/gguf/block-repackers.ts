// GGUF's quantised blocks → device quantisation without decoding: the same integers and scales in another order. Q4_K
// alone rounds: its group scale is a product of a half and a 6-bit integer, and the device keeps a half.

import { halfTable } from '../quantize/dequantize.ts';
import { putHalf, toHalf } from '../quantize/half.ts';
import type { Repacker, Repackers } from '../quantize/repack.ts';
import { groupMinimum, groupScale } from './block-decoders.ts';

const LOW = 0x0f0f0f0f;
const HIGH = 0xf0f0f0f0;

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

export const blockRepackers: Repackers = {
  'Q4_0→q4': q4,
  'Q4_1→q4m': q4m,
  'Q4_K→q4m': q4k,
  'Q5_0→q8': q5,
  'Q8_0→q8': q8,
};
