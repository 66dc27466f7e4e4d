// Attention of a pass's rows over the cache, each row with its own visibility (rows.ts). All variants give the same
// bits for every number of rows and every tree: a row's sums run in key order within chunks of 64 positions, at
// absolute multiples of 64, and a hidden key adds exactly zero.
// - `staged` and `shuffle` (attention-staged.ts): three dispatches without a barrier, for software adapters;
// - `split` (attention-split.ts): flash-decoding, for GPUs.
// The two files differ in rounding, so a variant is chosen at load and kept for every number of rows.
import type { Gpu } from '../../gpu/device.ts';
import { type Attention, type AttentionShape, CHUNK, pairVectorsOf } from './attention-shape.ts';
import { splitAttention } from './attention-split.ts';
import { shuffleAttention, stagedAttention } from './attention-staged.ts';

export interface AttentionTuning {
  readonly variant: 'staged' | 'shuffle' | 'split';
}

/** `shuffle` wants subgroups of eight lanes: lavapipe has them, SwiftShader's have four. */
export const attentionTuning = ({
  software,
  device,
  info,
}: Pick<Gpu, 'software' | 'device' | 'info'>): AttentionTuning => {
  if (!software) return { variant: 'split' };
  return { variant: device.features.has('subgroups') && (info.subgroupMinSize ?? 0) >= 8 ? 'shuffle' : 'staged' };
};

const VARIANTS = { staged: stagedAttention, shuffle: shuffleAttention, split: splitAttention } as const;

export const attentionOf = ({ variant }: AttentionTuning): Attention => VARIANTS[variant];

/**
 * For each pair vector and chunk a vec4 for every key (`split`: every dimension), and two for the maximum and the sum.
 * Without `split` 64 more, for the keys of a branching tree that are summed with the chunk before their own.
 */
export const attentionScratchBytes = (
  shape: Omit<AttentionShape, 'stored' | 'scale' | 'softCap' | 'ring'>,
  { variant }: AttentionTuning,
): number =>
  shape.keyValueHeads *
  pairVectorsOf(shape) *
  (variant === 'split'
    ? (shape.capacity / CHUNK) * (shape.headDim + 2)
    : (shape.capacity / CHUNK) * (CHUNK + 2) + CHUNK) *
  16;
