// Attention rollout without N × N: what share of a row's attention ends, over several layers, in rows that are sources.
// Two columns a row and level stand for the matrix, because only its product with the sources is wanted. One dispatch
// behind the attention of a layer, a variant for each of attention's; the weights are averaged over all heads before
// entries are dropped, so they must be final, and both variants have them exactly.

import lanes from '../../../shaders/attention/rollout-lanes.wgsl?raw';
import split from '../../../shaders/attention/rollout-split.wgsl?raw';
import { defineKernel, type Tensor } from '../../gpu/kernel.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { AttentionTuning } from './attention.ts';
import type { AttentionShape, AttentionTensors } from './attention-shape.ts';

/** Heads whose maxima and sums a lane or a workgroup keeps. */
export const MOST_HEADS = 64;

export type RolloutVariant = 'plain' | 'threshold' | 'residual';

const VARIANTS: readonly RolloutVariant[] = ['plain', 'threshold', 'residual'];

const UNIFORMS = {
  rows: 'u32',
  heads: 'u32',
  keyValueHeads: 'u32',
  headDim: 'u32',
  capacity: 'u32',
  scale: 'f32',
  level: 'u32',
  levels: 'u32',
  skip: 'u32',
} as const;

export const rolloutLanes = defineKernel({
  name: 'rollout-lanes',
  wgsl: lanes,
  bindings: { rows: 'read', scratch: 'read', rolloutState: 'update' },
  uniforms: UNIFORMS,
  tuning: { variant: 0 },
  grid: ({ rows }) => [rows],
});

export const rolloutSplit = defineKernel({
  name: 'rollout-split',
  wgsl: split,
  bindings: { query: 'read', keys: 'read', rows: 'read', scratch: 'read', rolloutState: 'update' },
  uniforms: UNIFORMS,
  tuning: { half: 0, variant: 0 },
  grid: ({ rows }) => [rows],
});

export interface RolloutTensors extends Pick<AttentionTensors, 'query' | 'keys' | 'rows' | 'scratch'> {
  /** `[slot][levels][2]`; this layer reads one level and writes the next. */
  readonly rolloutState: Tensor;
}

export interface RolloutShape extends AttentionShape {
  /** Of the layers rolled out, from 0. */
  readonly level: number;
  readonly levels: number;
  /** First positions that are no sources. */
  readonly skip: number;
}

/** Right behind `attention` with the same tensors, shape and tuning, for rows that are chains. */
export const rollout = (
  plan: Plan,
  tensors: RolloutTensors,
  { half, ...shape }: RolloutShape,
  { variant: stages }: AttentionTuning,
  kind: RolloutVariant,
): void => {
  const uniforms = { ...shape, scale: Math.LOG2E / Math.sqrt(shape.headDim) };
  const variant = VARIANTS.indexOf(kind);
  const { query, keys, rows, scratch, rolloutState } = tensors;
  if (stages === 'split') rolloutSplit(plan, { query, keys, rows, scratch, rolloutState }, uniforms, { half, variant });
  else rolloutLanes(plan, { rows, scratch, rolloutState }, uniforms, { variant });
};
