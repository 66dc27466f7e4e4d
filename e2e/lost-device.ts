// A page whose engine can be made to lose its GPU: the worker's device listens to a channel.
import type { Page } from '@playwright/test';

/** Call it before the page is opened. Only the first device of a worker can be lost. */
export const listenForLoss = async (page: Page): Promise<void> => {
  await page.addInitScript(() => {
    const { Worker } = globalThis;
    const module = (code: string): string => URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    const patch = module(`const { requestDevice } = GPUAdapter.prototype;
      GPUAdapter.prototype.requestDevice = async function (...args) {
        const device = await requestDevice.apply(this, args);
        GPUAdapter.prototype.requestDevice = requestDevice;
        new BroadcastChannel('lose').onmessage = () => device.destroy();
        return device;
      };`);
    globalThis.Worker = class extends Worker {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(module(`import '${patch}'; import '${new URL(url, location.href)}';`), options);
      }
    };
  });
};
