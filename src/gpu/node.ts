// WebGPU in Node: Dawn, from the optional npm package `webgpu`. The command line and the tests come in here; the
// browser never does.
import { tmpdir } from 'node:os';
import { OutriderError } from '../base/errors.ts';
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
    const gpu = await openGpu(instance, options);
    if (gpu.software) pollGently();
    return gpu;
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

let gentle = false;

/**
 * While anything is pending Dawn asks for events in a setImmediate loop, which takes a whole core: the very core that
 * a software adapter computes on (SmolLM2 on two busy cores: 231 ms a token, and 73 with this). It looks `setImmediate`
 * up at every submission of the loop, so its own (native) callbacks can be made to wait a moment first. Delete this when Dawn
 * for Node has a task queue of its own (crbug.com/dawn/1127).
 */
const pollGently = (): void => {
  if (gentle) return;
  gentle = true;
  const immediate = globalThis.setImmediate;
  const never = new Int32Array(new SharedArrayBuffer(4));
  const patched = (callback: (...args: unknown[]) => void, ...args: unknown[]): NodeJS.Immediate => {
    if (/\[native code\]/.test(Function.prototype.toString.call(callback))) Atomics.wait(never, 0, 0, POLL_MS);
    return immediate(callback, ...args);
  };
  globalThis.setImmediate = Object.assign(patched, immediate) as typeof setImmediate;
};

/** Adds this much to a readback at most. */
const POLL_MS = 0.05;
