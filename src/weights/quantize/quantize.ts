// Weights into the device's layout (device-layout.ts) on the host: blocks of rows come in any order and leave as two
// buffers. A file's own quantisation that fits a device format is repacked without loss; otherwise f32 rows are
// quantised.
import { OutriderError } from '../../base/errors.ts';
import { bad } from '../../base/refuse.ts';
import { GROUP, type MatrixLayout, type Packed, type WeightFormat } from './device-layout.ts';
import { toHalf } from './half.ts';
import { type GroupQuantizer, quantizeQ4, quantizeQ4m, quantizeQ6, quantizeQ8 } from './quantize-group.ts';
import type { Repacker } from './repack.ts';

/** What is asked for; undefined = as in the file. */
export type Precision = 'f32' | 'f16' | 'q8' | 'q4';

const AS_IN_FILE: Readonly<Record<string, WeightFormat>> = {
  F32: 'f32',
  F64: 'f32',
  // f16 would lose bf16's range.
  BF16: 'f32',
  F16: 'f16',
  Q4_0: 'q4',
  Q4_1: 'q4m',
  Q4_K: 'q4m',
  Q6_K: 'q6',
  Q1_0: 'q4',
  TQ1_0: 'q4',
  TQ2_0: 'q4',
};

/** The device format of a tensor: 4 bits keep the minimum where the file has one, an embedding keeps 6 or 8 bits. */
export const storedFormat = (type: string, precision: Precision | undefined, isEmbedding: boolean): WeightFormat => {
  const own = AS_IN_FILE[type] ?? 'q8';
  if (precision === undefined) return own;
  if (precision !== 'q4') return precision;
  if (own === 'q4' || own === 'q4m') return own;
  if (isEmbedding) return own === 'q6' ? 'q6' : 'q8';
  return 'q4';
};

const QUANTIZERS = { q8: quantizeQ8, q6: quantizeQ6, q4: quantizeQ4, q4m: quantizeQ4m } as const;

export class MatrixPacker implements Packed {
  readonly layout: MatrixLayout;
  readonly weights: Uint32Array<ArrayBuffer>;
  readonly scales: Uint32Array<ArrayBuffer>;

  /** What quantising has cost so far: sums of squared differences, and of squared values. Repacking costs nothing. */
  readonly loss = { error: 0, values: 0 };

  constructor(layout: MatrixLayout) {
    this.layout = layout;
    this.weights = new Uint32Array(layout.weightBytes / 4);
    this.scales = new Uint32Array(layout.scaleBytes / 4);
  }

  /** Rows `row`, `row + step`, … from consecutive rows of f32 values. */
  put(row: number, values: Float32Array, step = 1): void {
    const { format, columns } = this.layout;
    const count = this.#rows(values.length / columns, row, step);
    for (let r = 0; r < count; r++) {
      const own = values.subarray(r * columns, (r + 1) * columns);
      if (format === 'f32') this.#putF32(row + r * step, own);
      else if (format === 'f16') this.#putF16(row + r * step, own);
      else this.#quantize(QUANTIZERS[format], row + r * step, own);
    }
  }

  /** The same from rows as a file has them, where that loses nothing; false where it would: decode, then `put`. */
  putRaw(row: number, repacker: Repacker | undefined, bytes: Uint8Array, step = 1): boolean {
    const { columns } = this.layout;
    if (!repacker || columns % repacker.elements) return false;
    const rowBytes = (columns / repacker.elements) * repacker.bytes;
    const count = this.#rows(bytes.byteLength / rowBytes, row, step);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let r = 0; r < count; r++) repacker.row(view, r * rowBytes, this.layout, this, row + r * step);
    return true;
  }

  #rows(count: number, row: number, step: number): number {
    const last = row + (count - 1) * step;
    if (!Number.isInteger(count) || row < 0 || last >= this.layout.rows)
      throw new OutriderError('bug', `${count} rows put at ${row}, every ${step}, of a matrix of ${this.layout.rows}`);
    return count;
  }

  #putF32(row: number, values: Float32Array): void {
    const { paddedRows } = this.layout;
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (let k = 0; k < bits.length; k++) this.weights[((k >> 2) * paddedRows + row) * 4 + (k & 3)] = bits[k] as number;
  }

  #putF16(row: number, values: Float32Array): void {
    const { paddedRows } = this.layout;
    for (let k = 0; k < values.length; k += 2) {
      const low = toHalf(values[k] as number);
      const high = k + 1 < values.length ? toHalf(values[k + 1] as number) : 0;
      // All ones in the exponent: infinite or not a number.
      if ((low & 0x7c00) === 0x7c00 || (high & 0x7c00) === 0x7c00) throw tooLargeForHalf(values, k);
      this.weights[((k >> 3) * paddedRows + row) * 4 + ((k >> 1) & 3)] = low | (high << 16);
    }
  }

  #quantize(quantizer: GroupQuantizer, row: number, values: Float32Array): void {
    const { groups, paddedRows } = this.layout;
    let error = 0;
    let squares = 0;
    for (let g = 0; g < groups; g++) error += quantizer(values, g * GROUP, this, g, row, paddedRows);
    for (let k = 0; k < values.length; k++) squares += (values[k] as number) ** 2;
    this.loss.error += error;
    this.loss.values += squares;
  }
}

const tooLargeForHalf = (values: Float32Array, k: number): OutriderError =>
  bad(
    `weights of ${values[k]} and ${values[k + 1] ?? 0} do not fit 16-bit floats`,
    'Load the model with another precision (f32 or q8).',
  );
