// WebGPU in a browser, on a page or in a worker.
import { type Gpu, type OpenOptions, openGpu } from './device.ts';

/** Throws `no-webgpu` where the browser has no WebGPU. */
export const openBrowserGpu = (options: OpenOptions = {}): Promise<Gpu> => openGpu(globalThis.navigator?.gpu, options);

/** Whether a device can be opened here: a browser may have WebGPU on pages only. */
export const hasBrowserGpu = async (): Promise<boolean> => Boolean(await globalThis.navigator?.gpu?.requestAdapter());
