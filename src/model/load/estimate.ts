// What a checkpoint would take on the device, from its headers: the arithmetic of the loader without its device.
import type { Checkpoint } from '../../weights/checkpoint.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import type { Architecture } from '../architecture.ts';
import { cacheSlots, MOST_ROWS } from '../cache/kv-cache.ts';
import { readDrafter } from '../families/known-drafters.ts';
import { isScored, readScored } from '../families/known-judges.ts';
import { isDrafter, named, readArchitecture } from '../families/known-models.ts';
import { placeBytes, places } from './weight-layout.ts';

/** Of whatever the engine can run: a language model, a drafter, a judge's body. */
export const readAny = ({ config, tensors }: Pick<Checkpoint, 'config' | 'tensors'>): Architecture => {
  if (isScored(tensors)) return readScored(config);
  return isDrafter(named(config)) ? readDrafter(config).architecture : readArchitecture(config);
};

export const weightBytes = (
  architecture: Architecture,
  { tensors }: Pick<Checkpoint, 'tensors'>,
  precision: Precision | undefined,
): number =>
  places(architecture, (name) => tensors.get(name)?.type ?? 'F32', precision).reduce(
    (sum, place) => sum + placeBytes(place),
    0,
  );

/** Activations of a pass of 16 rows (interpreter.ts has them one by one); logits are most of it. */
export const scratchBytes = ({ sizes, input: { features } }: Architecture): number => {
  const { hidden, heads, keyValueHeads, headDim, feedForward, vocabulary } = sizes;
  const widths = [hidden, hidden, hidden, (heads + 2 * keyValueHeads) * headDim, heads * headDim, heads * headDim];
  if (features) widths.push(features.count * hidden, hidden, hidden, 2 * hidden);
  return [...widths, feedForward, vocabulary].reduce((sum, width) => sum + MOST_ROWS * stride32(width) * 4, 0);
};

/** Keys, or values, of one layer: the largest buffer whose size grows with the context. */
export const layerCacheBytes = ({ sizes }: Architecture, positions: number, half: boolean): number =>
  cacheSlots({ positions, forks: { count: 0, room: 0 } }) * sizes.keyValueHeads * sizes.headDim * (half ? 2 : 4);
