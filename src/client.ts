// The page's side of an engine in a worker: the interface of engine.ts, with streams, aborts and faults carried across.
import { transfer, wrap } from 'comlink';
import { bundledSource } from './bundled.ts';
import { ask } from './call.ts';
import type { ModelRole } from './decode/system.ts';
import type { Engine, Loaded, LoadProgress, ModelSources } from './engine.ts';
import { OutriderError } from './errors.ts';
import type { Service } from './service.ts';
import type { TraceEvent } from './trace.ts';

export interface ConnectOptions {
  /** The address under which `models/` is served. Default: the page's own. */
  readonly base?: string;
  /** Whoever serves an engine. Default: a new worker, which `close` ends. */
  readonly worker?: Worker | MessagePort;
}

const startWorker = (): Worker =>
  new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'outrider' });

/** Rejects when the worker dies or could not start, and never resolves. */
const loss = (worker: Worker | MessagePort): Promise<never> => {
  const lost = new Promise<never>((_, reject) => {
    const fail = (event: Event): void => {
      const reason = (event as Partial<ErrorEvent>).message || 'its script could not be loaded';
      reject(new OutriderError('bug', `the engine's worker has stopped: ${reason}`, 'Reload the page.'));
    };
    worker.addEventListener('error', fail);
    worker.addEventListener('messageerror', fail);
  });
  lost.catch(() => {}); // whoever has a call open hears of it
  return lost;
};

const sendable = (source: NonNullable<ModelSources[ModelRole]>, base: string | undefined): typeof source => {
  if (typeof source === 'string') return bundledSource(source, base);
  if ('kind' in source) return source;
  throw new OutriderError('bad-request', 'a loaded model cannot move into a worker', 'Use createEngine on this side.');
};

export const connect = ({ base, worker = startWorker() }: ConnectOptions = {}): Engine => {
  const service = wrap<Service>(worker);
  const lost = loss(worker);
  return {
    async load(models, { signal, onProgress, ...options } = {}) {
      const sources = Object.fromEntries(
        Object.entries(models).flatMap(([role, source]) => (source ? [[role, sendable(source, base)]] : [])),
      ) as ModelSources;
      const call = ask<LoadProgress, Loaded>(
        (port) => service.load(sources, options, transfer(port, [port])),
        lost,
        signal,
      );
      for (;;) {
        const { done, value } = await call.next();
        if (done) return value;
        onProgress?.(value);
      }
    },
    run: (request, signal) =>
      ask<TraceEvent, void>((port) => service.run(request, transfer(port, [port])), lost, signal),
    async close() {
      await Promise.race([service.close(), lost]).finally(() => {
        if ('terminate' in worker) worker.terminate();
        else worker.close();
      });
    },
  };
};
