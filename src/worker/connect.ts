// An engine in a worker of its own, which is found as bundlers and browsers alike find one.

import type { Engine } from '../engine/engine.ts';
import { clientOf } from './client.ts';

/** Where the engine runs, and where its bundled models are. */
export interface ConnectOptions {
  /** The address under which `models/` is served. Default: the page's own. */
  readonly base?: string;
  /** Whoever serves an engine. Default: a new worker, which `close` ends. */
  readonly worker?: Worker | MessagePort | (() => Worker);
}

const startWorker = (): Worker =>
  new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'outrider' });

/** Nothing is loaded yet, and no GPU is asked for before something is. */
export const connect = ({ base, worker = startWorker }: ConnectOptions = {}): Engine => clientOf(worker, { base });
