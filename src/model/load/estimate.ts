// What a checkpoint would take on the device, from its headers: the arithmetic of the loader without its device.
import type { Checkpoint } from '../../weights/checkpoint.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import type { Architecture } from '../architecture.ts';
import { cacheSlots } from '../cache/kv-cache.ts';
import { placeBytes, places } from './weight-layout.ts';

export const weightBytes = (
  architecture: Architecture,
  { tensors }: Pick<Checkpoint, 'tensors'>,
  precision: Precision | undefined,
): number =>
  places(architecture, (name) => tensors.get(name)?.type ?? 'F32', precision).reduce(
    (sum, place) => sum + placeBytes(place),
    0,
  );

/** Keys, or values, of one layer: the largest buffer whose size grows with the context. */
export const layerCacheBytes = ({ sizes }: Architecture, positions: number, half: boolean): number =>
  cacheSlots({ positions, forks: { count: 0, room: 0 } }) * sizes.keyValueHeads * sizes.headDim * (half ? 2 : 4);
