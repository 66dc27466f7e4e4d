// WebGPU as a browser has it, in a page or in a worker.
import { type Gpu, type OpenOptions, openGpu } from './device.ts';

export const openBrowserGpu = (options: OpenOptions = {}): Promise<Gpu> => openGpu(globalThis.navigator?.gpu, options);
