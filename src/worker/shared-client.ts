// The page's side of the engine that all tabs share. Where a shared worker has no WebGPU or does not answer, the tab
// has a worker of its own, and says so.
import { wrap } from 'comlink';
import type { Engine } from '../engine/engine.ts';
import { type ClientOptions, clientOf, type Served } from './client.ts';
import { hold, released, servingLock } from './locks.ts';
import type { SharedService } from './shared-service.ts';

/** An engine in a worker, which may serve other tabs too. */
export interface Client extends Engine {
  /** True when one engine serves all tabs of this site; false when this tab has a worker of its own. */
  readonly shared: Promise<boolean>;
}

/** A shared worker that does not answer for so long, in milliseconds, is given up: its script may be compiling. */
const PATIENCE = 20_000;

const NOTICE = 'This browser runs no WebGPU in a shared worker, so this tab loads models of its own.';

interface Joined extends Served {
  leave(): void;
}

/** The port of a shared worker with WebGPU, or null. */
const joined = async (start: () => SharedWorker): Promise<Joined | null> => {
  if (typeof SharedWorker === 'undefined' || !navigator.locks) return null;
  const name = `outrider-tab-${crypto.randomUUID()}`;
  const leave = await hold(name);
  const worker = start();
  const { port } = worker;
  const service = wrap<SharedService>(port);
  const failed = new Promise<false>((resolve) => worker.addEventListener('error', () => resolve(false)));
  let late: ReturnType<typeof setTimeout> | undefined;
  const silent = new Promise<false>((resolve) => {
    late = setTimeout(resolve, PATIENCE, false);
  });
  try {
    // Only its script has to answer soon: a GPU that compiles for another tab keeps any worker waiting.
    const here = await Promise.race([service.join(name).then(() => true), failed, silent]);
    const ended = here ? released(servingLock(name)) : null;
    if (ended && (await Promise.race([service.hasGpu(), failed, ended.then(() => false)])))
      return { port, leave, ended };
  } finally {
    clearTimeout(late);
  }
  port.close();
  leave();
  return null;
};

export const sharedClient = (
  startShared: () => SharedWorker,
  startOwn: () => Worker,
  options: ClientOptions = {},
): Client => {
  let leave = (): void => {};
  let shared = false;
  const engine = (async (): Promise<Engine> => {
    const link = await joined(startShared).catch(() => null);
    if (!link) return clientOf(startOwn, options);
    leave = link.leave;
    shared = true;
    let first: Joined | null = link;
    return clientOf(() => {
      const joined = first;
      first = null;
      if (joined) return joined;
      shared = false; // the shared worker has ended, or did not answer any more
      leave();
      return startOwn();
    }, options);
  })();
  return {
    get shared() {
      return engine.then(() => shared);
    },
    systems: async () => (await engine).systems(),
    async load(models, how) {
      const loaded = await (await engine).load(models, how);
      return shared ? loaded : { ...loaded, notice: [loaded.notice, NOTICE].filter(Boolean).join(' ') };
    },
    async *run(request, signal) {
      yield* (await engine).run(request, signal);
    },
    calibrate: async (how) => (await engine).calibrate(how),
    measure: async (how) => (await engine).measure(how),
    preflight: async (models, how) => (await engine).preflight(models, how),
    storedModels: async () => (await engine).storedModels(),
    deleteStored: async (name) => (await engine).deleteStored(name),
    async close() {
      try {
        await (await engine).close();
      } finally {
        leave();
      }
    },
  };
};
