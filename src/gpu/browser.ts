// WebGPU in a browser, on a page or in a worker.
import { type Gpu, type OpenOptions, openGpu } from './device.ts';

/** Throws `no-webgpu` where the browser has no WebGPU. */
export const openBrowserGpu = (options: OpenOptions = {}): Promise<Gpu> => openGpu(globalThis.navigator?.gpu, options);
