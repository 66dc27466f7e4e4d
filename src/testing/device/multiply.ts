// What the tests of the matmul family share: sixteen rows through passes of any size, and a count of differing bits.
import type { Gpu } from '../../gpu/device.ts';
import {
  type Dispatched,
  type Lanes,
  type MatmulChoice,
  type MatmulShape,
  matmul,
} from '../../kernels/matmul/matmul.ts';
import { isPaired } from '../../kernels/matmul/matmul-text.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { type RandomMatrix, random } from './matrix.ts';
import { runKernel, strided, tensorOf } from './run-kernel.ts';

/** The same tiling for every format, with the same R for every M unless each has its own. */
export const tilingsOf = (
  workgroup: number,
  perLane: number | Readonly<Record<Dispatched, number>>,
  most: Dispatched = 16,
): MatmulChoice['tilings'] => {
  const of = (m: Dispatched): Lanes => ({ workgroup, perLane: typeof perLane === 'number' ? perLane : perLane[m] });
  const tiling = { most, lanes: { 1: of(1), 2: of(2), 4: of(4), 8: of(8), 16: of(16) } };
  return { f32: tiling, f16: tiling, q8: tiling, q6: tiling, q4: tiling, q4m: tiling };
};

/**
 * The two kinds of choice there are: what software adapters run, and what real GPUs may. The latter without unrolling:
 * lavapipe makes a coroutine of a kernel with a barrier, and takes a minute over one that Mesa has unrolled.
 */
export const LANES: MatmulChoice = {
  slices: 1,
  input: 'constant',
  unroll: false,
  together: 0,
  tilings: tilingsOf(16, 4),
};
export const SLICED: MatmulChoice = {
  slices: 4,
  input: 'read',
  unroll: false,
  together: 0,
  tilings: tilingsOf(32, 2),
};

export const activations = (columns: number): number[][] => {
  const next = random(7);
  return Array.from({ length: 16 }, () => Array.from({ length: columns }, () => Math.fround(2 * next() - 1)));
};

export interface Pass extends Omit<MatmulShape, 'epilogue'>, Partial<Pick<MatmulShape, 'epilogue'>> {
  readonly choice: MatmulChoice;
  readonly bias?: readonly number[];
}

/** The 16 rows in passes of `rows`; outputs start as all ones, and come back with their padding. */
export const multiply = async (
  gpu: Gpu,
  { matrix }: RandomMatrix,
  x: readonly (readonly number[])[],
  { choice, bias, epilogue = 'store', ...shape }: Pass,
): Promise<Float32Array[]> => {
  const { rows } = shape;
  const stride = stride32(isPaired(epilogue) ? matrix.rows / 2 : matrix.rows);
  const outputs = [];
  for (let i = 0; i < x.length; i += rows) {
    // The last pass may lack rows, and twelve rows may be padded.
    const length = rows === 12 ? 16 : rows;
    const given = Array.from({ length }, (_, m) => x[i + m] ?? new Array<number>(matrix.columns).fill(0));
    const values = strided(given, stride32(matrix.columns));
    const input = gpu.activation(length, stride32(matrix.columns), 'test');
    gpu.device.queue.writeBuffer(input.buffer, 0, values.buffer as ArrayBuffer);
    const output = { ...tensorOf(gpu, new Float32Array(length * stride).fill(1)), shape: [length, stride] };
    const biases = bias ? { bias: tensorOf(gpu, Float32Array.from(bias)) } : {};
    const [result] = await runKernel(gpu, [output], (plan) =>
      matmul(plan, { input, matrix, output, ...biases }, { ...shape, epilogue }, { fallback: choice, shapes: {} }),
    );
    outputs.push(
      ...Array.from({ length: Math.min(rows, x.length - i) }, (_, m) =>
        (result as Float32Array).slice(m * stride, (m + 1) * stride),
      ),
    );
    for (const { buffer } of [input, output, ...Object.values(biases)]) gpu.free(buffer);
  }
  return outputs;
};

/** Words that differ, -0 from 0 and one NaN from another included. */
export const differing = (a: readonly Float32Array[], b: readonly Float32Array[]): number => {
  const words = (rows: readonly Float32Array[]) => rows.flatMap((row) => [...new Uint32Array(row.slice().buffer)]);
  const [x, y] = [words(a), words(b)];
  return x.filter((word, i) => word !== y[i]).length + Math.abs(x.length - y.length);
};
