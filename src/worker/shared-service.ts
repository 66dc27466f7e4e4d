// Serves the engine of all tabs in a shared worker. Tab and worker hear of each other's end by locks (locks.ts).
import { expose } from 'comlink';
import type { Engine } from '../engine/engine.ts';
import { hold, released, servingLock } from './locks.ts';
import { type Service, serve } from './service.ts';
import type { Tabs } from './tabs.ts';

export interface SharedService extends Service {
  /** `lock`: held by the tab. Answers at once, when the worker holds a lock, too. */
  join(lock: string): Promise<void>;
  /** False where this worker has no WebGPU: then the tab needs a worker of its own. Waits for a browser's busy GPU. */
  hasGpu(): Promise<boolean>;
}

/** `hasGpu` tells whether a device can be opened here. */
export const serveTab = (tabs: Tabs, port: MessagePort, hasGpu: () => Promise<boolean>): Engine => {
  const tab = tabs.join();
  let release = (): void => {};
  const leave = (): void => {
    void tab.close();
    release();
  };
  port.addEventListener('close', leave); // not in every browser, and late in some: the lock is what counts there
  const service: SharedService = {
    ...serve(tab),
    async join(lock) {
      if (!globalThis.navigator?.locks) return;
      release = await hold(servingLock(lock));
      released(lock).then(leave, leave);
    },
    hasGpu,
  };
  expose(service, port);
  return tab;
};
