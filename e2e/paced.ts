// A page whose engine never runs ahead of it: after each readback the worker waits for the page. So a run that is
// stopped at its first words is not over by then, however late the page draws them.
import type { Page } from '@playwright/test';
import { patchWorker } from './lost-device.mjs';

interface Paced {
  /** The worker waits for it. */
  held: Promise<void>;
  release: () => void;
}

/** Call it before the page is opened. */
export const paced = async (page: Page): Promise<void> => {
  await page.addInitScript(() => {
    const own: Paced = { held: Promise.resolve(), release: () => {} };
    const pace = new BroadcastChannel('pace');
    pace.onmessage = async () => {
      await own.held;
      pace.postMessage('');
    };
    Object.assign(globalThis, { paced: own });
  });
  await patchWorker(
    page,
    `const pace = new BroadcastChannel('pace');
    const waiting = [];
    pace.onmessage = () => {
      for (const goOn of waiting.splice(0)) goOn();
    };
    const { mapAsync } = GPUBuffer.prototype;
    GPUBuffer.prototype.mapAsync = async function (...args) {
      await mapAsync.apply(this, args);
      await new Promise((goOn) => {
        waiting.push(goOn);
        pace.postMessage('');
      });
    };`,
  );
};

/**
 * Until `release` the engine waits at its next readback: a run that begins meanwhile does not end. With a pattern it
 * waits from the moment when the text of `selector` changes and matches.
 */
export const hold = (page: Page, selector = '', pattern = /^/): Promise<void> =>
  page.evaluate(
    ([selector, source]) => {
      const { paced } = globalThis as unknown as { paced: Paced };
      const now = (): void => {
        paced.held = new Promise((resolve) => {
          paced.release = resolve;
        });
      };
      if (selector === '') return now();
      new MutationObserver((_, observer) => {
        if (!new RegExp(source).test(document.querySelector(selector)?.textContent ?? '')) return;
        observer.disconnect();
        now();
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    },
    [selector, pattern.source] as const,
  );

export const release = (page: Page): Promise<void> =>
  page.evaluate(() => (globalThis as unknown as { paced: Paced }).paced.release());
