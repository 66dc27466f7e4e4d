// Attention rollout (Abnar and Zuidema, 2020) without its N × N matrices: the share of a row's attention that ends,
// over several layers, in rows that are sources. Only the matrices' product with the sources is needed, so two sums a
// slot and level stand for them. One dispatch after the attention of a layer, with a variant for each of attention's.
// Weights are averaged over the heads before entries are dropped, so they have to be final; both variants have them
// exactly.

import splitWgsl from '../../../shaders/attention/rollout-split.wgsl?raw';
import stagedWgsl from '../../../shaders/attention/rollout-staged.wgsl?raw';
import { defineKernel, type Tensor } from '../../gpu/kernel.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { AttentionTuning } from './attention.ts';
import { type AttentionShape, type AttentionTensors, scoring } from './attention-shape.ts';

/** Heads that a workgroup has room for. */
export const MOST_HEADS = 64;

/** In the order of the shader's numbers. */
const VARIANTS = ['plain', 'threshold', 'residual', 'renormalised'] as const;
export type RolloutVariant = (typeof VARIANTS)[number];

const UNIFORMS = {
  rows: 'u32',
  heads: 'u32',
  keyValueHeads: 'u32',
  headDim: 'u32',
  capacity: 'u32',
  scale: 'f32',
  softCap: 'f32',
  level: 'u32',
  levels: 'u32',
  skip: 'u32',
} as const;

export const rolloutStaged = defineKernel({
  name: 'rollout-staged',
  wgsl: stagedWgsl,
  bindings: { rows: 'read', scratch: 'read', rolloutState: 'update' },
  uniforms: UNIFORMS,
  tuning: { variant: 0 },
  grid: ({ rows }) => [rows],
});

export const rolloutSplit = defineKernel({
  name: 'rollout-split',
  wgsl: splitWgsl,
  bindings: { query: 'read', keys: 'read', rows: 'read', scratch: 'read', rolloutState: 'update' },
  uniforms: UNIFORMS,
  tuning: { stored: 0 as number, capped: 0 as number, variant: 0 },
  grid: ({ rows }) => [rows],
});

export interface RolloutTensors extends Pick<AttentionTensors, 'query' | 'keys' | 'rows' | 'scratch'> {
  /** `[slot][levels][2]`; this layer reads one level and writes the next. */
  readonly rolloutState: Tensor;
}

export interface RolloutShape extends AttentionShape {
  /** The layer's number among those rolled out, from 0. */
  readonly level: number;
  readonly levels: number;
  /** So many of the first positions are no sources. */
  readonly skip: number;
}

/** Recorded right after `attention`, with the same tensors, shape and tuning, for rows that are chains. */
export const rollout = (
  plan: Plan,
  tensors: RolloutTensors,
  shape: RolloutShape,
  { variant: stages }: AttentionTuning,
  kind: RolloutVariant,
): void => {
  const { uniforms: scores, tuning } = scoring(shape);
  const uniforms = { ...shape, ...scores };
  const variant = VARIANTS.indexOf(kind);
  const { query, keys, rows, scratch, rolloutState } = tensors;
  if (stages === 'split')
    rolloutSplit(plan, { query, keys, rows, scratch, rolloutState }, uniforms, { ...tuning, variant });
  else rolloutStaged(plan, { rows, scratch, rolloutState }, uniforms, { variant });
};
