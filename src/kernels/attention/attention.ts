// Attention of the rows of a pass over the cache, with each row's own visibility (rows.ts). Its variants are bit for bit
// the same for every number of rows and for every tree, because a row's sums run in key order within chunks of 64
// positions at absolute multiples of 64 and hidden keys add exactly zero:
// - `lanes` and `shuffle` (attention-lanes.ts): three dispatches without a barrier, for adapters that are CPUs in disguise;
// - `split` (attention-split.ts): flash-decoding, a workgroup a chunk, and a dispatch that joins the chunks, for GPUs.
// The two files differ in rounding, so a variant is chosen at load and kept for every M. A page fetches one file only.
import type { Gpu } from '../../gpu/device.ts';
import { type Attention, type AttentionShape, CHUNK, quartetsOf } from './attention-shape.ts';

export interface AttentionTuning {
  readonly variant: 'lanes' | 'shuffle' | 'split';
}

/** `shuffle` wants subgroups of eight lanes, as lavapipe's are; SwiftShader's have four. */
export const attentionTuning = ({
  software,
  device,
  info,
}: Pick<Gpu, 'software' | 'device' | 'info'>): AttentionTuning => {
  if (!software) return { variant: 'split' };
  return { variant: device.features.has('subgroups') && (info.subgroupMinSize ?? 0) >= 8 ? 'shuffle' : 'lanes' };
};

export const loadAttention = async ({ variant }: AttentionTuning): Promise<Attention> => {
  if (variant === 'split') return (await import('./attention-split.ts')).splitAttention;
  const { lanesAttention, shuffleAttention } = await import('./attention-lanes.ts');
  return variant === 'lanes' ? lanesAttention : shuffleAttention;
};

/**
 * A vec4 for each key or dimension of a chunk and a quartet of pairs, and two for its maximum and sum. Without `split` 64
 * more, for the keys that a branching tree adds up with the chunk before their own.
 */
export const attentionScratchBytes = (shape: Omit<AttentionShape, 'half'>, { variant }: AttentionTuning): number =>
  shape.keyValueHeads *
  quartetsOf(shape) *
  (variant === 'split'
    ? (shape.capacity / CHUNK) * (shape.headDim + 2)
    : (shape.capacity / CHUNK) * (CHUNK + 2) + CHUNK) *
  16;
