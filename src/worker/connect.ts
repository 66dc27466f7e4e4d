// Opens an engine in a worker of its own, or in one that all tabs of the site share.
import { isObject } from '../base/is-object.ts';
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import { clientOf } from './client.ts';
import { type Client, sharedClient } from './shared-client.ts';
import { startSharedWorker, startWorker } from './start-worker.ts';

/** Where the engine runs, and where its bundled models are. */
export interface ConnectOptions {
  /** The address under which `models/` is served. Default: the page's own. */
  readonly base?: string;
  /** A worker or a port that serves an engine, or what starts a worker. Default: a new worker, which `close` ends. */
  readonly worker?: Worker | MessagePort | (() => Worker);
  /**
   * One engine for all tabs of this site: one queue, and one copy of a model on the device. A tab runs with the models
   * that it loaded. Where a shared worker has no WebGPU, each tab has a worker of its own; `client.shared` tells.
   */
  readonly shared?: boolean;
}

/** What a platform throws where it has no workers, or the script is of another origin, does not say what to do. */
const start = (): Worker => {
  try {
    return startWorker();
  } catch (cause) {
    const hint = 'Serve dist/library from the origin of the page; in Node, use createEngine({ gpu }).';
    throw refuse(`no worker can be started here: ${(cause as Error).message}`, hint, { cause });
  }
};

/** An engine in a web worker. Nothing is loaded yet; the first load opens the GPU. */
export const connect = (options: ConnectOptions = {}): Client => {
  if (!isObject(options as unknown)) throw refuse(`the options must be an object, not ${shown(options)}`);
  const { base, worker, shared = false, ...unknown } = options;
  for (const name of Object.keys(unknown))
    throw refuse(`there is no option "${name}"`, 'Options: base, worker, shared.');
  if (shared && worker === undefined) return sharedClient(startSharedWorker, start, { base });
  return { ...clientOf(worker ?? start, { base }), shared: Promise.resolve(false) };
};
