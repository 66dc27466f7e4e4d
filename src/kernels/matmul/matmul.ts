// y = W·x for the 1…32 activation rows of a pass, in every weight format, as one kernel family: the same text generator
// serves decoding, verification and prefill, so their bits agree. What a device runs (slices, rows a lane, how the
// activations are bound) is data, `MatmulTuning`; of it only `slices` touches the order of a sum.
import { PASS_ROWS, type PassRowCount } from '../../base/pass-rows.ts';
import { UNIFORM_BYTES } from '../../gpu/device.ts';
import { type Access, defineKernel, type Tensor } from '../../gpu/kernel.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { MatrixLayout, WeightFormat } from '../../weights/quantize/device-layout.ts';
import {
  type Epilogue,
  inputsOf,
  isPaired,
  type MatmulVariant,
  matmulText,
  ROWS_OF_BINDING,
  rowsOfBinding,
  stepsOfGroup,
} from './matmul-text.ts';

export type { Epilogue } from './matmul-text.ts';

/** Activation rows that a pass is recorded for. */
export const BUCKETS = PASS_ROWS;
export type Bucket = PassRowCount;

/** Activation rows of a tile. */
const DISPATCHED = [1, 2, 4, 8, 16] as const;
export type Dispatched = (typeof DISPATCHED)[number];

/** Neighbouring rows of a matrix, small enough for one binding. */
export interface MatrixPart {
  /** The part's first row in the whole matrix; a multiple of 16. */
  readonly start: number;
  readonly layout: MatrixLayout;
  readonly weights: Tensor;
  /** f32 and f16 have none: any 16 bytes. */
  readonly scales: Tensor;
}

export interface Matrix {
  readonly format: WeightFormat;
  readonly rows: number;
  readonly columns: number;
  readonly parts: readonly MatrixPart[];
}

/** How a workgroup shares its work. */
export interface Lanes {
  readonly workgroup: number;
  /** Matrix rows a lane owns. */
  readonly perLane: number;
}

/** How matrices of one format are cut. */
export interface Tiling {
  /** The most activation rows of a tile: a pass of more takes several. */
  readonly most: Dispatched;
  /** For each M of a tile. */
  readonly lanes: Readonly<Record<Dispatched, Lanes>>;
}

/** How one shape of matrix is multiplied. */
export interface MatmulChoice {
  /** Lanes that share a row. The only entry that decides the order of a sum, hence the same for every M. */
  readonly slices: number;
  readonly input: 'constant' | 'read';
  /** Whether compilers may unroll, and know the width of the matrix: see MatmulVariant. */
  readonly unroll: boolean;
  /** Lanes that load activations for each other; 0 without subgroups: see MatmulVariant. */
  readonly together: 0 | 8;
  readonly tilings: Readonly<Record<WeightFormat, Tiling>>;
}

export interface MatmulTuning {
  readonly fallback: MatmulChoice;
  /** By `shapeName`; a shape that is not here takes the fallback. */
  readonly shapes: Readonly<Record<string, MatmulChoice>>;
}

export const shapeName = ({ format, rows, columns }: Pick<Matrix, 'format' | 'rows' | 'columns'>): string =>
  `${format} ${rows}×${columns}`;

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** What a product is for. `scale` and `softCap`: see MatmulVariant. */
export interface MatmulShape {
  readonly rows: number;
  readonly epilogue: Epilogue;
  readonly scale?: number;
  readonly softCap?: number | null;
}

/** Tiles of one binding: those that fit 64 KiB. A power of two divides the rows of a pass. */
const tilesOf = (variant: MatmulVariant, groups: number): number => {
  if (variant.rows < ROWS_OF_BINDING) return 1;
  let tiles = 1;
  while (rowsOfBinding(variant, 2 * tiles) * groups * 128 <= UNIFORM_BYTES) tiles *= 2;
  return tiles;
};

/**
 * A choice as it applies to so many rows of a pass: the tile of its first dispatch, and what that is compiled from.
 */
export const matmulVariant = (
  { format, columns }: Pick<Matrix, 'format' | 'columns'>,
  { rows, epilogue, bias, scale = 1, softCap = null }: MatmulShape & { bias: boolean },
  { slices, input, unroll, together, tilings }: MatmulChoice,
): MatmulVariant => {
  const { most, lanes } = tilings[format];
  const groups = Math.ceil(columns / 32);
  // Twelve rows are padded where one dispatch takes them all; eight and four would decode each weight twice.
  const wanted = DISPATCHED.find((size) => size >= Math.min(rows, most)) as Dispatched;
  // Activations past 64 KiB are bound in several dispatches of fewer rows; where too few rows fit, as storage. Offsets
  // are multiples of 256 bytes, which takes two rows; lanes that own rows want all eight of a binding.
  const least = Math.min(rows, together > 0 ? ROWS_OF_BINDING : 2);
  const fitting = DISPATCHED.findLast(
    (size) =>
      size <= wanted && size >= least && rowsOfBinding({ rows: size, together }, 1) * groups * 128 <= UNIFORM_BYTES,
  );
  const constant = input === 'constant' && fitting !== undefined;
  // As storage, sixteen rows of lanes that own rows took as long as twice eight.
  const stored = together > 0 ? (Math.min(wanted, ROWS_OF_BINDING) as Dispatched) : wanted;
  const dispatched = constant ? fitting : stored;
  const { workgroup, perLane } = lanes[dispatched];
  return {
    format,
    groups: unroll ? groups : null,
    rows: dispatched,
    epilogue,
    bias,
    scale,
    softCap,
    input: constant ? 'constant' : 'read',
    perLane: Math.max(perLane, isPaired(epilogue) ? 2 : 1),
    slices,
    workgroup,
    unroll,
    together,
  };
};

type Kernel = ReturnType<typeof define>;
const kernels = new Map<string, Kernel>();

const define = (variant: MatmulVariant) => {
  const { format, epilogue, bias, input, perLane, slices, workgroup } = variant;
  const bindings: Readonly<Record<string, Access>> = {
    ...Object.fromEntries(range(inputsOf(variant)).map((i) => [`input${i}`, input])),
    weights: 'read',
    scales: 'read',
    ...(bias ? { bias: 'read' } : {}),
    output: epilogue === 'add' ? 'update' : 'write',
  };
  return defineKernel({
    name: `matmul-${format}-${epilogue}`,
    wgsl: matmulText(variant),
    bindings,
    uniforms: {
      outputs: 'u32',
      paddedRows: 'u32',
      start: 'u32',
      outputStride: 'u32',
      groups: 'u32',
      steps: 'u32',
      /** Of the dispatch: for the grid alone. */
      tiles: 'u32',
    },
    tuning: {},
    grid: ({ paddedRows, tiles }) => [Math.ceil(paddedRows / perLane / (workgroup / slices)), tiles],
  });
};

const kernel = (variant: MatmulVariant): Kernel => {
  const key = JSON.stringify(variant);
  const known = kernels.get(key) ?? define(variant);
  kernels.set(key, known);
  return known;
};

export interface MatmulTensors {
  /** `[M][stride32(columns)]`. */
  readonly input: Tensor;
  readonly matrix: Matrix;
  /** `[M][stride]`. */
  readonly output: Tensor;
  /** f32, a value for each padded row of the matrix. */
  readonly bias?: Tensor;
}

export const matmul = (
  plan: Plan,
  { input, matrix, output, bias }: MatmulTensors,
  shape: MatmulShape,
  tuning: MatmulTuning,
): void => {
  const choice = tuning.shapes[shapeName(matrix)] ?? tuning.fallback;
  const { rows } = shape;
  const steps = stepsOfGroup(matrix.format);
  const outputStride = output.shape.at(-1) ?? 0;
  for (const { start, layout, weights, scales } of matrix.parts)
    for (let first = 0; first < rows; ) {
      const inputBytes = layout.groups * 128;
      const offset = input.offset + first * inputBytes;
      const rest = { ...shape, rows: rows - first, bias: bias !== undefined };
      const variant = matmulVariant(matrix, rest, choice);
      const whole = Math.max(1, Math.floor((rows - first) / variant.rows));
      const tiles = variant.input === 'constant' ? Math.min(whole, tilesOf(variant, layout.groups)) : whole;
      const bound = variant.input === 'constant' ? UNIFORM_BYTES : rowsOfBinding(variant, tiles) * inputBytes;
      const inputs = range(inputsOf(variant)).map((j) => {
        const at = offset + j * ROWS_OF_BINDING * inputBytes;
        return [`input${j}`, { ...input, offset: at, bytes: bound }] as const;
      });
      const rowBytes = outputStride * 4;
      kernel(variant)(
        plan,
        {
          ...Object.fromEntries(inputs),
          weights,
          scales,
          ...(bias ? { bias } : {}),
          output: { ...output, offset: output.offset + first * rowBytes, bytes: tiles * variant.rows * rowBytes },
        },
        {
          outputs: layout.rows,
          paddedRows: layout.paddedRows,
          start,
          outputStride,
          groups: layout.groups,
          steps,
          tiles,
        },
      );
      first += tiles * variant.rows;
    }
};
