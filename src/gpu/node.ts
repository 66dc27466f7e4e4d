// WebGPU in Node: Dawn, from the optional npm package `webgpu`. The command line and the tests come in here; the
// browser never does.
import { tmpdir } from 'node:os';
import { OutriderError } from '../errors.ts';
import { type Gpu, type OpenOptions, openGpu } from './device.ts';

/** Dawn aborts the process when the object that `create` returned is collected while a device lives: keep it. */
let instance: GPU | null = null;

export const openNodeGpu = async (options: OpenOptions = {}): Promise<Gpu> => {
  if (!instance) {
    const dawn = await import('webgpu').catch((cause: unknown) => {
      throw new OutriderError(
        'no-webgpu',
        'the npm package "webgpu" (Dawn for Node) is not installed',
        'npm install webgpu',
        { cause },
      );
    });
    Object.assign(globalThis, dawn.globals);
    process.env.XDG_RUNTIME_DIR ??= tmpdir(); // lavapipe refuses to start without one
    instance = dawn.create([]);
  }
  try {
    return await openGpu(instance, options);
  } catch (error) {
    if (error instanceof OutriderError && error.code === 'no-webgpu')
      throw new OutriderError(
        'no-webgpu',
        'Dawn found no Vulkan, Metal or D3D12 adapter',
        'Without a GPU, install Mesa ≥ 24 (Debian: mesa-vulkan-drivers from backports) and set VK_DRIVER_FILES to its lvp_icd.json.',
      );
    throw error;
  }
};
