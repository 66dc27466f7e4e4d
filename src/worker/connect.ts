// Opens an engine in a worker of its own.
import type { Engine } from '../engine/engine.ts';
import { clientOf } from './client.ts';
import { startWorker } from './start-worker.ts';

/** Where the engine runs, and where its bundled models are. */
export interface ConnectOptions {
  /** The address under which `models/` is served. Default: the page's own. */
  readonly base?: string;
  /** A worker or a port that serves an engine, or what starts a worker. Default: a new worker, which `close` ends. */
  readonly worker?: Worker | MessagePort | (() => Worker);
}

/** Nothing is loaded yet, and the GPU is opened by the first load. */
export const connect = ({ base, worker = startWorker }: ConnectOptions = {}): Engine => clientOf(worker, { base });
