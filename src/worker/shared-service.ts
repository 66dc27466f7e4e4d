// Serves the engine of all tabs in a shared worker. A tab holds a lock under a name of its own as long as it lives, so
// the worker hears of its end by getting that lock: a page that is closed or crashes sends no message.
import { expose } from 'comlink';
import type { Engine } from '../engine/engine.ts';
import { type Service, serve } from './service.ts';
import type { Tabs } from './tabs.ts';

export interface SharedService extends Service {
  /** `lock`: held by the tab. Answers at once. */
  join(lock: string): Promise<void>;
  /** False where this worker has no WebGPU: then the tab needs a worker of its own. Waits for a browser's busy GPU. */
  hasGpu(): Promise<boolean>;
}

/** `hasGpu` tells whether a device can be opened here. */
export const serveTab = (tabs: Tabs, port: MessagePort, hasGpu: () => Promise<boolean>): Engine => {
  const tab = tabs.join();
  const leave = (): void => void tab.close();
  port.addEventListener('close', leave); // not in every browser, and late in some: the lock is what counts there
  const service: SharedService = {
    ...serve(tab),
    async join(lock) {
      globalThis.navigator?.locks?.request(lock, leave).catch(leave);
    },
    hasGpu,
  };
  expose(service, port);
  return tab;
};
