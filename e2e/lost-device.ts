// A page whose engine can be made to lose its GPU: the newest device of its worker listens to a channel.
import type { Page } from '@playwright/test';

/** Call it before the page is opened; then a message on the channel `lose` ends the device. */
export const listenForLoss = (page: Page): Promise<void> =>
  patchWorker(
    page,
    `const { requestDevice } = GPUAdapter.prototype;
    let newest = null;
    new BroadcastChannel('lose').onmessage = () => newest?.destroy();
    GPUAdapter.prototype.requestDevice = async function (...args) {
      newest = await requestDevice.apply(this, args);
      return newest;
    };`,
  );

/** Runs a script in every worker of the page before its own. Call it before the page is opened. */
export const patchWorker = async (page: Page, script: string): Promise<void> => {
  await page.addInitScript((patching) => {
    const { Worker } = globalThis;
    const module = (code: string): string => URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    const patch = module(patching);
    globalThis.Worker = class extends Worker {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(module(`import '${patch}'; import '${new URL(url, location.href)}';`), options);
      }
    };
  }, script);
};
