// The adapters that kernel tests run on: lavapipe with every optional feature, and the same adapter with none.
import type { Gpu } from '../../gpu/device.ts';
import { openNodeGpu } from '../../gpu/node.ts';

const open = new Map<string, Promise<Gpu>>();

/** One device a process and feature set: opening lavapipe takes tens of milliseconds. */
export const testGpu = (features: 'all' | 'baseline' = 'all'): Promise<Gpu> => {
  const known = open.get(features);
  if (known) return known;
  const gpu = openNodeGpu({ features });
  open.set(features, gpu);
  return gpu;
};
