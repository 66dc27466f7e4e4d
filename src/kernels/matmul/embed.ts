// Token ids to rows of activations. A row names its token by value, or as an entry of the token ring, so that
// drawn tokens need not be read back. One dispatch for each part of the matrix; every token lies in exactly one.

import wgsl from '../../../shaders/matmul/embed.wgsl?raw';
import { defineKernel, type Tensor } from '../../gpu/kernel.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Matrix } from './matmul.ts';

const shape = {
  wgsl,
  uniforms: { count: 'u32', start: 'u32', partRows: 'u32', paddedRows: 'u32', columns: 'u32', scale: 'f32' },
  tuning: { format: 0 as number, positions: 0 as number },
  grid: ({ count, columns }: { readonly count: number; readonly columns: number }) =>
    [Math.ceil(columns / 512), count] as const,
} as const;

const inputs = { rows: 'read', tokenRing: 'read', weights: 'read', scales: 'read' } as const;

export const embedPart = defineKernel({ name: 'embed', bindings: { ...inputs, output: 'write' }, ...shape });

/** With `positions` = 1: adds the row of each row's position. */
export const addPositionPart = defineKernel({
  name: 'add-position',
  bindings: { ...inputs, output: 'update' },
  ...shape,
});

const FORMATS = ['f32', 'f16', 'q8', 'q4', 'q4m', 'q6'] as const;

export interface EmbedTensors {
  readonly rows: Tensor;
  /** Choices (sample.ts) that rows name by `ringEntry`. */
  readonly tokenRing: Tensor;
  readonly matrix: Matrix;
  /** `[M][stride32(columns)]`. */
  readonly output: Tensor;
}

/**
 * `scale` multiplies the embeddings; families that do not scale leave it out. With `positions` the matrix has a row for
 * each position, which is added to the output.
 */
export const embed = (
  plan: Plan,
  { rows, tokenRing, matrix, output }: EmbedTensors,
  {
    rows: count,
    scale = 1,
    positions = false,
  }: { readonly rows: number; readonly scale?: number; readonly positions?: boolean },
): void => {
  for (const { start, layout, weights, scales } of matrix.parts)
    (positions ? addPositionPart : embedPart)(
      plan,
      { rows, tokenRing, weights, scales, output },
      { count, start, partRows: layout.rows, paddedRows: layout.paddedRows, columns: layout.columns, scale },
      { format: FORMATS.indexOf(layout.format), positions: positions ? 1 : 0 },
    );
};
