// A page whose engine can be made to lose its GPU: the newest device of its worker listens to a channel.

/**
 * Call it before the page is opened; then a message on the channel `lose` ends the device.
 * @param {import('@playwright/test').Page} page
 */
export const listenForLoss = (page) =>
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

/**
 * Runs a script in every worker of the page before its own. Call it before the page is opened.
 * @param {import('@playwright/test').Page} page @param {string} script
 */
export const patchWorker = async (page, script) => {
  await page.addInitScript((patching) => {
    const { Worker } = globalThis;
    const module = (/** @type {string} */ code) => URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    const patch = module(patching);
    globalThis.Worker = class extends Worker {
      /** @param {string | URL} url @param {WorkerOptions} [options] */
      constructor(url, options) {
        super(module(`import '${patch}'; import '${new URL(url, location.href)}';`), options);
      }
    };
  }, script);
};
