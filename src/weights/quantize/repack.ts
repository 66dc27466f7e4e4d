// A file's rows → the device's layout without decoding.

import type { MatrixLayout, Packed, WeightFormat } from './device-layout.ts';
import { putHalf } from './half.ts';

export interface Repacker {
  /** Of a block in the file. */
  readonly elements: number;
  readonly bytes: number;
  /** One row, from byte `at` of the file's bytes. */
  row(view: DataView, at: number, layout: MatrixLayout, into: Packed, row: number): void;
}

/** By 'type in the file→format on the device'. */
export type Repackers = Readonly<Record<string, Repacker | undefined>>;

const f16: Repacker = {
  elements: 1,
  bytes: 2,
  row: (view, at, layout, { weights }, row) => {
    for (let k = 0; k < layout.columns; k++)
      putHalf(weights, ((k >> 3) * layout.paddedRows + row) * 8 + (k & 7), view.getUint16(at + 2 * k, true));
  },
};

const NUMBERS: Repackers = { 'F16→f16': f16 };

/** Undefined where repacking would lose something; `blocks`: where types may be those of GGUF. */
export const repackerOf = (type: string, format: WeightFormat, blocks?: Repackers): Repacker | undefined =>
  NUMBERS[`${type}→${format}`] ?? blocks?.[`${type}→${format}`];
