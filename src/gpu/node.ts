// WebGPU in Node: Dawn, from the optional npm package `webgpu`. The command line and the tests use it; a browser never
// does.
import { tmpdir } from 'node:os';
import { OutriderError } from '../base/errors.ts';
import { type Gpu, type OpenOptions, openGpu } from './device.ts';
import type { Counters } from './types.ts';

/** Kept, because Dawn aborts the process when this object is collected while a device lives. */
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
    if (gpu.software) pollGently(gpu.counters);
    return gpu;
  } catch (error) {
    if (error instanceof OutriderError && error.code === 'no-webgpu')
      throw new OutriderError(
        'no-webgpu',
        'Dawn found no Vulkan, Metal or D3D12 adapter',
        'Without a GPU, install Mesa ≥ 24 (Debian 12: mesa-vulkan-drivers from backports; later ones have it) and set VK_DRIVER_FILES to its lvp_icd.json.',
      );
    throw error;
  }
};

/** Of every device that is polled gently. */
const polled: Counters[] = [];

/**
 * While anything is pending, Dawn polls for events in a setImmediate loop. The loop takes a whole core, which a
 * software adapter computes on (SmolLM2 on two busy cores: 231 ms a token; with this 73). Dawn looks `setImmediate` up
 * in each iteration, so its native callbacks can be made to wait first: the longer, the longer the last submission has
 * taken, because each poll interrupts a thread of the adapter (docs/log/kernels.md).
 * Delete this when Dawn for Node has a task queue of its own (crbug.com/dawn/1127).
 */
const pollGently = (counters: Counters): void => {
  if (polled.push(counters) > 1) return;
  const immediate = globalThis.setImmediate;
  const never = new Int32Array(new SharedArrayBuffer(4));
  let submits = 0;
  let since = 0;
  let polling = false;
  const wait = (): number => {
    const now = performance.now();
    const count = polled.reduce((sum, device) => sum + device.submits, 0);
    if (count !== submits || !polling) since = now;
    submits = count;
    return Math.min(Math.max((now - since) / 32, LEAST_WAIT), MOST_WAIT);
  };
  const patched = (callback: (...args: unknown[]) => void, ...args: unknown[]): NodeJS.Immediate => {
    if (!/\[native code\]/.test(Function.prototype.toString.call(callback))) return immediate(callback, ...args);
    Atomics.wait(never, 0, 0, wait());
    return immediate(() => {
      polling = true; // while anything is pending, the callback asks for the next poll at once
      callback(...args);
      polling = false;
    });
  };
  globalThis.setImmediate = Object.assign(patched, immediate) as typeof setImmediate;
};

/** Milliseconds that polling gently adds to a readback: a 32nd of what it takes, within these bounds. */
const LEAST_WAIT = 0.05;
const MOST_WAIT = 2;
