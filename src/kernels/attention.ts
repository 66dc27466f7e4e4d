// Attention of the rows of a pass over the cache, with each row's own visibility (rows.ts). Two variants, both bit for
// bit the same for every number of rows and for every tree, because a row's sums run in key order within chunks of 64
// positions at absolute multiples of 64 and hidden keys add exactly zero:
// - `lanes`: three dispatches without a barrier, for adapters that are CPUs in disguise. Of each there is a second one
//   for passes whose rows have a `cut`: asked at run time it costs lavapipe a tenth of a plain pass's scores;
// - `split`: flash-decoding, a workgroup a chunk, and a dispatch that joins the chunks, for GPUs.
// They differ from each other in rounding, so one is chosen at load and kept for every M.
import output from '../../shaders/attention-output.wgsl?raw';
import reduce from '../../shaders/attention-reduce.wgsl?raw';
import scores from '../../shaders/attention-scores.wgsl?raw';
import softmax from '../../shaders/attention-softmax.wgsl?raw';
import split from '../../shaders/attention-split.wgsl?raw';
import tile from '../../shaders/attention-tile.wgsl?raw';
import visibility from '../../shaders/rows.wgsl?raw';
import type { Gpu } from '../gpu/device.ts';
import { defineKernel, type Grid, type Live, type Tensor } from '../gpu/kernel.ts';
import type { Plan } from '../gpu/plan.ts';

/** Keys in a chunk; a cache's capacity is a multiple of it. */
export const CHUNK = 64;

interface Shape {
  readonly rows: number;
  readonly heads: number;
  readonly keyValueHeads: number;
}

/** (row, head) pairs of one kv head go in tiles of four, which share every read of the cache. */
const tiles = ({ rows, heads, keyValueHeads }: Shape): number => Math.ceil((rows * heads) / keyValueHeads / 4);

/** Each stage of `lanes` is there twice; the live pass picks one. */
const when = (branched: number, live: Live, ...grid: [number, number, number]): Grid =>
  (branched === 1) === (live.branched ?? false) ? grid : [0];

export const attentionScores = defineKernel({
  name: 'attention-scores',
  wgsl: visibility + tile + scores,
  bindings: { query: 'read', keys: 'read', rows: 'read', scratch: 'write' },
  uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', headDim: 'u32', capacity: 'u32', scale: 'f32' },
  tuning: { half: 0, branched: 0 as number },
  grid: (shape, { branched }, live) =>
    when(branched, live, Math.ceil(live.keys / CHUNK), shape.keyValueHeads, tiles(shape)),
});

export const attentionSoftmax = defineKernel({
  name: 'attention-softmax',
  wgsl: visibility + tile + softmax,
  bindings: { rows: 'read', scratch: 'update' },
  uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', capacity: 'u32' },
  tuning: { branched: 0 as number },
  grid: (shape, { branched }, live) =>
    when(branched, live, Math.ceil(live.keys / CHUNK / 8), shape.keyValueHeads, tiles(shape)),
});

export const attentionOutput = defineKernel({
  name: 'attention-output',
  wgsl: visibility + tile + output,
  bindings: { values: 'read', rows: 'read', scratch: 'read', output: 'write' },
  uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', headDim: 'u32', capacity: 'u32' },
  tuning: { half: 0, branched: 0 as number },
  grid: (shape, { branched }, live) =>
    when(branched, live, Math.ceil(shape.headDim / 32), shape.keyValueHeads, tiles(shape)),
});

export const attentionSplit = defineKernel({
  name: 'attention-split',
  wgsl: visibility + split,
  bindings: { query: 'read', keys: 'read', values: 'read', rows: 'read', scratch: 'write' },
  uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', headDim: 'u32', capacity: 'u32', scale: 'f32' },
  tuning: { half: 0 },
  grid: (shape, _, { keys }) => [Math.ceil(keys / CHUNK), shape.keyValueHeads, tiles(shape)],
});

export const attentionReduce = defineKernel({
  name: 'attention-reduce',
  wgsl: visibility + tile + reduce,
  bindings: { rows: 'read', scratch: 'read', output: 'write' },
  uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', headDim: 'u32', capacity: 'u32' },
  tuning: {},
  grid: (shape) => [Math.ceil(shape.headDim / 64), shape.keyValueHeads, tiles(shape)],
});

export interface AttentionTensors {
  /** `[M][stride32(heads · headDim)]`, rotated. */
  readonly query: Tensor;
  readonly keys: Tensor;
  readonly values: Tensor;
  readonly rows: Tensor;
  /** At least `attentionScratchBytes`; nothing in it outlives the call, so layers share it. */
  readonly scratch: Tensor;
  /** `[M][stride32(heads · headDim)]`. */
  readonly output: Tensor;
}

export interface AttentionShape extends Shape {
  readonly headDim: number;
  /** Slots in the cache, a multiple of 64. */
  readonly capacity: number;
  /** 1 = the cache is f16. */
  readonly half: 0 | 1;
}

export interface AttentionTuning {
  readonly variant: 'lanes' | 'split';
}

export const attentionTuning = ({ software }: Pick<Gpu, 'software'>): AttentionTuning => ({
  variant: software ? 'lanes' : 'split',
});

/**
 * A vec4 (four pairs) for each key or dimension of a chunk, and two for its maximum and sum. Lanes: 64 more for the keys
 * that a branching tree adds up with the chunk before their own.
 */
export const attentionScratchBytes = (shape: Omit<AttentionShape, 'half'>, { variant }: AttentionTuning): number =>
  shape.keyValueHeads *
  tiles(shape) *
  (variant === 'lanes'
    ? (shape.capacity / CHUNK) * (CHUNK + 2) + CHUNK
    : (shape.capacity / CHUNK) * (shape.headDim + 2)) *
  16;

export const attention = (
  plan: Plan,
  { query, keys, values, rows, scratch, output }: AttentionTensors,
  { half, ...shape }: AttentionShape,
  { variant }: AttentionTuning,
): void => {
  const scale = Math.LOG2E / Math.sqrt(shape.headDim);
  const { headDim, ...plain } = shape;
  if (variant === 'split') {
    attentionSplit(plan, { query, keys, values, rows, scratch }, { ...shape, scale }, { half });
    attentionReduce(plan, { rows, scratch, output }, shape);
    return;
  }
  for (const branched of [0, 1]) {
    attentionScores(plan, { query, keys, rows, scratch }, { ...shape, scale }, { half, branched });
    attentionSoftmax(plan, { rows, scratch }, plain, { branched });
    attentionOutput(plan, { values, rows, scratch, output }, shape, { half, branched });
  }
};
