// Dawn's device for a command that runs a model, the line on stderr that says which it is, and a model on it.
import type { Gpu } from '../gpu/device.ts';
import { openNodeGpu } from '../gpu/node.ts';
import { type LoadedModel, loadSource, type Progress } from '../load.ts';
import type { Precision } from '../weights/quantize.ts';
import { choice } from './arguments.ts';
import { modelSource } from './model-source.ts';
import { formatBytes } from './table.ts';
import type { Terminal } from './terminal.ts';

export const precisionOption = choice(
  ['f32', 'f16', 'q8', 'q4'],
  'of the weights on the device (default: as in the file)',
);

export interface OpenedDevice extends Disposable {
  readonly gpu: Gpu;
}

const describe = ({ info, device, software }: Gpu): string => {
  const features = ['shader-f16', 'subgroups'].filter((name) => device.features.has(name));
  const facts = [info.description || info.device || info.vendor, info.architecture, ...features];
  return [...new Set([...facts, ...(software ? ['software'] : [])])].filter((fact) => fact !== '').join(' · ');
};

/** Closing it frees everything that lies on it. */
export const openDevice = async ({ note }: Terminal): Promise<OpenedDevice> => {
  const gpu = await openNodeGpu();
  note(`device: ${describe(gpu)}`);
  return { gpu, [Symbol.dispose]: () => gpu.destroy() };
};

const tell = ({ phase, loaded, total }: Progress): string =>
  phase === 'compile' ? 'compiling shaders' : `${phase} ${formatBytes(loaded)} of ${formatBytes(total)}`;

interface Wanted {
  readonly model: string | undefined;
  readonly precision: Precision | undefined;
}

export const loadOnDevice = async (
  { gpu }: OpenedDevice,
  { model, precision }: Wanted,
  { root, signal, progress, note }: Terminal,
): Promise<LoadedModel> => {
  const loaded = await loadSource(gpu, await modelSource(model, root), {
    precision,
    signal,
    onProgress: (state) => progress(tell(state)),
  });
  if (!loaded.model.batchInvariant)
    note('warning: this device does not score a row alone as it does among others; every pass is padded, and slower');
  return loaded;
};
