// The check of batch invariance at load. Speculation is lossless only if scoring M tokens gives, bit for bit, what M
// passes of one token give. Our kernels fix the order of every sum, but WGSL lets a driver reassociate (Metal's relaxed
// math). One layer of each kind runs at M = 1 and at every other number of rows, and the logits are compared.

import type { Architecture } from '../architecture.ts';
import { chain } from '../check-tree.ts';
import type { Cursor } from '../interface.ts';
import type { Weights } from './device-weights.ts';

/** Rows of the longest pass of the check: more than 12, so that it takes the bucket of 16. */
const ROWS = 13;
/** Rows that are also scored alone. */
const SINGLES = 5;
/** One pass for each bucket beyond 1. */
const WIDTHS = [2, 3, SINGLES, 9, ROWS] as const;
export const CHECK_CAPACITY = ROWS;

/** One layer for each kind of block and combination of weight formats: the others run the same pipelines. */
export const checkLayers = (architecture: Architecture, { blocks }: Weights): readonly number[] => {
  const kinds = blocks.map(({ mixer, gateUp, down }, layer) => {
    const matrices = Object.values(mixer).filter((value) => typeof value === 'object' && 'format' in value);
    const formats = [...matrices, gateUp, down].map(({ format }) => format);
    return JSON.stringify([architecture.blocks[layer], formats]);
  });
  return kinds.flatMap((kind, layer) => (kinds.indexOf(kind) === layer ? [layer] : []));
};

const bits = (values: Float32Array): Uint32Array => new Uint32Array(values.buffer, values.byteOffset, values.length);

export const isBatchInvariant = async (
  cursor: Pick<Cursor, 'forward' | 'rewind'>,
  vocabulary: number,
): Promise<boolean> => {
  const tokens = Array.from({ length: ROWS }, (_, i) => (i * 7919 + 13) % vocabulary);
  const alone: Uint32Array[] = [];
  for (const token of tokens.slice(0, SINGLES)) {
    const pass = cursor.forward(chain([token]));
    alone.push(bits(await pass.logits.read()));
    pass.accept([0]);
  }
  cursor.rewind(0);
  for (const width of WIDTHS) {
    const together = bits(await cursor.forward(chain(tokens.slice(0, width))).logits.read());
    for (let row = 0; row < Math.min(width, SINGLES); row++) {
      const single = alone[row] as Uint32Array;
      for (let i = 0; i < vocabulary; i++) if (single[i] !== together[row * vocabulary + i]) return false;
    }
  }
  return true;
};
