// The page's side of an engine in a worker: the interface of engine.ts, with streams, aborts and faults carried across.
// Who starts the worker is left open (connect.ts, the widget's single file), because bundlers follow whatever starts one.
import { transfer, wrap } from 'comlink';
import { OutriderError } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import type { ModelRole } from '../decode/core/system.ts';
import { bundledSource } from '../engine/bundled.ts';
import type { Calibrated } from '../engine/calibrate.ts';
import type { DeviceCard, Measuring } from '../engine/device-card.ts';
import type { Engine, Loaded } from '../engine/engine.ts';
import type { Preflight } from '../engine/preflight.ts';
import type { LoadProgress, ModelSources } from '../engine/sources.ts';
import type { TraceEvent } from '../trace/index.ts';
import { ask } from './rpc.ts';
import type { Calibrating, Service } from './service.ts';

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
  throw refuse('a loaded model cannot move into a worker', 'Use createEngine on this side.');
};

const sendableAll = (models: ModelSources, base: string | undefined): ModelSources =>
  Object.fromEntries(
    Object.entries(models).flatMap(([role, source]) => (source ? [[role, sendable(source, base)]] : [])),
  ) as ModelSources;

/** The value of a call; what it tells on the way is passed on. */
const resultOf = async <Told, Value>(
  call: AsyncGenerator<Told, Value, undefined>,
  tell: ((told: Told) => void) | undefined,
): Promise<Value> => {
  for (;;) {
    const { done, value } = await call.next();
    if (done) return value;
    tell?.(value);
  }
};

/** `base`: the address under which `models/` is served. Default: the page's own. */
export const clientOf = (worker: Worker | MessagePort, base?: string): Engine => {
  const service = wrap<Service>(worker);
  const lost = loss(worker);
  return {
    systems: () => Promise.race([service.systems(), lost]),
    async load(models, { signal, onProgress, ...options } = {}) {
      const sources = sendableAll(models, base);
      const send = (port: MessagePort) => service.load(sources, options, transfer(port, [port]));
      return resultOf(ask<LoadProgress, Loaded>(send, lost, signal), onProgress);
    },
    run: (request, signal) =>
      ask<TraceEvent, void>((port) => service.run(request, transfer(port, [port])), lost, signal),
    calibrate({ signal, onProgress, ...options }) {
      const send = (port: MessagePort) => service.calibrate(options, transfer(port, [port]));
      return resultOf(ask<Calibrating, Calibrated>(send, lost, signal), onProgress && ((told) => onProgress(...told)));
    },
    measure({ signal, onProgress, ...options } = {}) {
      const send = (port: MessagePort) => service.measure(options, transfer(port, [port]));
      return resultOf(ask<Measuring, DeviceCard>(send, lost, signal), onProgress);
    },
    async preflight(models, { signal, ...options } = {}) {
      const sources = sendableAll(models, base);
      const send = (port: MessagePort) => service.preflight(sources, options, transfer(port, [port]));
      return resultOf(ask<never, Preflight>(send, lost, signal), undefined);
    },
    async close() {
      await Promise.race([service.close(), lost]).finally(() => {
        if ('terminate' in worker) worker.terminate();
        else worker.close();
      });
    },
  };
};
