// WebGPU as a browser has it, in a page or in a worker.
import { type Gpu, type OpenOptions, openGpu } from './device.ts';

/** Throws `no-webgpu` where there is none. */
export const openBrowserGpu = (options: OpenOptions = {}): Promise<Gpu> => openGpu(globalThis.navigator?.gpu, options);
