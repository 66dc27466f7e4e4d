// Which member of the matmul family a device runs for each shape of matrix. Software adapters take constants that were
// measured once: one choice is best there, and compiling a candidate costs more than a race would win. Real GPUs race
// at load on the model's own matrices, at M = 1 (decoding) and M = 8 (verification). What decides the order of a sum,
// the slices, is no matter of the race: a model gives the same bits whenever it is loaded.
import type { Gpu } from '../../gpu/device.ts';
import { Plan } from '../../gpu/plan.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import {
  BUCKETS,
  type Dispatched,
  type Lanes,
  type MatmulChoice,
  type MatmulTuning,
  type Matrix,
  matmul,
  matmulVariant,
  shapeName,
  type Tiling,
} from './matmul.ts';
import { type Epilogue, matmulText } from './matmul-text.ts';

/** `integers`: of the formats with 8 bits or fewer. */
const tilings = (integers: Tiling, floats = integers): MatmulChoice['tilings'] => ({
  ...{ f32: floats, f16: floats },
  ...{ q8: integers, q6: integers, q4: integers, q4m: integers },
});

/** 64 rows of a matrix, four or eight a lane, which share what the lane loads of the activations. */
const FOUR: Lanes = { workgroup: 16, perLane: 4 };
const EIGHT: Lanes = { workgroup: 8, perLane: 8 };

/**
 * Measured on lavapipe. A step takes at most 512 products: a larger body ran slower, and LLVM compiled it for seconds.
 * Eight rows a lane pay at M = 2 and 4 alone: at M = 1 and 8 whole passes took as long.
 */
const FLOATS: Tiling = { most: 8, lanes: { 1: FOUR, 2: FOUR, 4: FOUR, 8: FOUR, 16: FOUR } };
const INTEGERS: Tiling = { most: 16, lanes: { 1: FOUR, 2: EIGHT, 4: EIGHT, 8: FOUR, 16: FOUR } };

/** Measured on SwiftShader. */
const MANY: Lanes = { workgroup: 16, perLane: 8 };
const SWIFTSHADER: Tiling = { most: 8, lanes: { 1: FOUR, 2: FOUR, 4: MANY, 8: MANY, 16: MANY } };
/** f16 takes no longer in tiles of four rows with four rows a lane, which compile in a quarter of the time. */
const SWIFTSHADER_F16: Tiling = { most: 4, lanes: { 1: FOUR, 2: FOUR, 4: FOUR, 8: FOUR, 16: FOUR } };

/**
 * docs/log/kernels.md has the times. Lavapipe's subgroups have 8 lanes. SwiftShader's have 4, and sharing loads gains
 * nothing there.
 */
export const software = (together: 0 | 8): MatmulChoice => ({
  slices: 1,
  input: 'constant',
  unroll: false,
  together,
  tilings: together > 0 ? tilings(INTEGERS, FLOATS) : { ...tilings(SWIFTSHADER), f16: SWIFTSHADER_F16 },
});

const softwareFor = ({ device, info }: Gpu): MatmulChoice =>
  software(device.features.has('subgroups') && (info.subgroupMinSize ?? 0) >= 8 ? 8 : 0);

/**
 * Lanes that share a row: the fewer rows a matrix has, the more it takes to fill a device. Best of 4 to 64 on an H100 for
 * the shapes of models with .1 to 4 billion weights (docs/log/kernels.md); other GPUs have not been measured.
 */
export const slicesOf = (rows: number): number => {
  if (rows <= 4096) return 32;
  return rows <= 32768 ? 16 : 8;
};

/** `few`: of tiles of at most four activation rows. */
const sliced = (slices: number, few: Lanes, many: Lanes): MatmulChoice => ({
  slices,
  input: 'read',
  unroll: true,
  together: 0,
  tilings: tilings({ most: 16, lanes: { 1: few, 2: few, 4: few, 8: many, 16: many } }),
});

/** What a real GPU chooses from: R × M × workgroup must fit 16 KiB of workgroup memory. All give the same bits. */
export const candidatesOf = ({ rows }: Pick<Matrix, 'rows'>): readonly [MatmulChoice, ...MatmulChoice[]] => {
  const slices = slicesOf(rows);
  return [
    sliced(slices, { workgroup: 128, perLane: 1 }, { workgroup: 128, perLane: 2 }),
    sliced(slices, { workgroup: 64, perLane: 2 }, { workgroup: 64, perLane: 2 }),
  ];
};

/** Dispatches of one timing: enough to hide what a submit costs. */
const REPEATS = 8;
const TIMINGS = 3;
const RACED: readonly Dispatched[] = [1, 8];

/** Milliseconds of M = 1 and M = 8 together, the best of a few timings. */
const time = async (gpu: Gpu, matrix: Matrix, choice: MatmulChoice): Promise<number> => {
  let total = 0;
  for (const rows of RACED) {
    const [input, output] = await gpu.allocating('a race of kernels', () => [
      gpu.activation(rows, stride32(matrix.columns), 'race'),
      gpu.activation(rows, stride32(matrix.rows), 'race'),
    ]);
    const plan = new Plan(gpu);
    for (let i = 0; i < REPEATS; i++)
      matmul(plan, { input, matrix, output }, { rows, epilogue: 'store' }, { fallback: choice, shapes: {} });
    try {
      await plan.ready();
      let best = Number.POSITIVE_INFINITY;
      for (let i = 0; i <= TIMINGS; i++) {
        const start = performance.now();
        gpu.submission.run(plan, { keys: 0 });
        const done = gpu.submission.read({ ...output, bytes: 16 });
        gpu.submission.submit();
        await done;
        if (i > 0) best = Math.min(best, performance.now() - start); // the first one warms up
      }
      total += best;
    } finally {
      plan.destroy();
      gpu.free(input.buffer);
      gpu.free(output.buffer);
    }
  }
  return total;
};

/** One choice for each distinct shape; the matrices may still be empty, their contents do not matter to a race. */
export const raceTuning = async (
  gpu: Gpu,
  matrices: readonly Matrix[],
  candidates: (matrix: Matrix) => readonly [MatmulChoice, ...MatmulChoice[]] = candidatesOf,
): Promise<MatmulTuning> => {
  const shapes: Record<string, MatmulChoice> = {};
  for (const [name, matrix] of new Map(matrices.map((m) => [shapeName(m), m]))) {
    const times: { choice: MatmulChoice; ms: number }[] = [];
    for (const choice of candidates(matrix)) times.push({ choice, ms: await time(gpu, matrix, choice) });
    shapes[name] = times.reduce((best, next) => (next.ms < best.ms ? next : best)).choice;
  }
  return { fallback: candidatesOf({ rows: 0 })[0], shapes };
};

/** Plain data: what was chosen may be kept, and given to another model of the same shapes. */
export const chooseTuning = async (gpu: Gpu, matrices: readonly Matrix[]): Promise<MatmulTuning> =>
  gpu.software ? { fallback: softwareFor(gpu), shapes: {} } : raceTuning(gpu, matrices);

/** Every text that a tuning can need, at one small K, for the test that compiles them all on a real adapter. */
export const matmulVariants = (): { name: string; wgsl: string }[] =>
  (['f32', 'f16', 'q8', 'q6', 'q4', 'q4m'] as const).flatMap((format) =>
    [software(0), software(8), ...[1, 5000, 50_000].flatMap((rows) => candidatesOf({ rows }))].flatMap((choice) =>
      BUCKETS.flatMap((rows) =>
        (['store', 'add', 'gelu', 'exact-gelu', 'silu-mul', 'gelu-mul'] as const).flatMap((epilogue: Epilogue) =>
          [false, true].map((bias) => ({
            name: `matmul ${format} M=${rows} ${epilogue}${bias ? ' with bias' : ''}, ${choice.slices} slices, ${JSON.stringify(choice.tilings[format].lanes[1])}, input as ${choice.input}${choice.together ? ', together' : ''}`,
            wgsl: matmulText(matmulVariant({ format, columns: 64 }, { rows, epilogue, bias }, choice)),
          })),
        ),
      ),
    ),
  );
