// The memory that a checkpoint would take on the device, computed from its headers with the loader's own declarations.

import type { Gpu } from '../../gpu/device.ts';
import { attentionTuning } from '../../kernels/attention/attention.ts';
import { type Checkpoint, typeAsRead } from '../../weights/checkpoint.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import type { Architecture } from '../architecture.ts';
import { cacheBytes, cacheScratch } from '../cache/kv-cache.ts';
import { isDrafter, isScored, readsDraftStates } from '../families/families.ts';
import type { CachePrecision } from '../interface.ts';
import { SPARE_ROWS } from '../limits.ts';
import { plannedBytes, planWeights } from './weight-layout.ts';

export const weightBytes = (
  architecture: Architecture,
  { tensors }: Pick<Checkpoint, 'tensors'>,
  precision: Precision | undefined,
): number =>
  planWeights(architecture, (name) => typeAsRead(tensors.get(name)), precision).reduce(
    (sum, weight) => sum + plannedBytes(weight),
    0,
  );

/** Of a language model, the rows before their windows that its layers keep too; drafters and judges keep all rows. */
export const spareRows = ({ config, tensors }: Pick<Checkpoint, 'config' | 'tensors'>): number | undefined =>
  isDrafter(config) || isScored(tensors) || readsDraftStates(config) ? undefined : SPARE_ROWS;

/** Cache and the scratch that grows with it, on this device. `spare`: see `spareRows`. */
export const cacheEstimate = (
  gpu: Gpu,
  architecture: Architecture,
  size: { readonly positions: number; readonly precision: CachePrecision; readonly spare?: number | undefined },
): number => {
  const scratch = Object.values(cacheScratch(architecture, size, attentionTuning(gpu))).flat();
  return scratch.reduce((sum, bytes) => sum + bytes, cacheBytes(architecture, size));
};

/** The largest of that scratch: what attention keeps between its passes, as one buffer. */
export const attentionEstimate = (
  gpu: Gpu,
  architecture: Architecture,
  size: Parameters<typeof cacheEstimate>[2],
): number => cacheScratch(architecture, size, attentionTuning(gpu)).attention;
