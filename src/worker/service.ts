// Serves an engine in a worker: it answers each call of client.ts over its own port.
import type { SystemFacts } from '../decode/core/system.ts';
import type { Calibrated, CalibrateOptions } from '../engine/calibrate.ts';
import type { DeviceCard, MeasureOptions, Measuring } from '../engine/device-card.ts';
import type { Engine, Loaded } from '../engine/engine.ts';
import type { Preflight, PreflightOptions } from '../engine/preflight.ts';
import type { RunRequest } from '../engine/request.ts';
import type { LoadOptions, LoadProgress, ModelSources } from '../engine/sources.ts';
import type { TraceEvent } from '../trace/index.ts';
import type { StoredModel } from '../weights/files/stored-models.ts';
import { answer } from './rpc.ts';

export interface Service {
  /** Answers at once unless the worker is busy with something that cannot be interrupted. */
  ping(): Promise<void>;
  systems(): Promise<readonly SystemFacts[]>;
  load(models: ModelSources, options: Omit<LoadOptions, 'signal' | 'onProgress'>, port: MessagePort): Promise<void>;
  run(request: RunRequest, port: MessagePort): Promise<void>;
  calibrate(options: Pick<CalibrateOptions, 'prompts' | 'maxTokens'>, port: MessagePort): Promise<void>;
  measure(options: Pick<MeasureOptions, 'repeats'>, port: MessagePort): Promise<void>;
  preflight(models: ModelSources, options: Omit<PreflightOptions, 'signal'>, port: MessagePort): Promise<void>;
  storedModels(port: MessagePort): Promise<void>;
  deleteStored(name: string, port: MessagePort): Promise<void>;
  close(): Promise<void>;
}

/** Answers written, and answers in all. */
export type Calibrating = readonly [done: number, all: number];

export const serve = (engine: Engine): Service => ({
  ping: async () => {},
  systems: () => engine.systems(),
  load: (models, options, port) =>
    answer<LoadProgress, Loaded>(port, (onProgress, signal) => engine.load(models, { ...options, signal, onProgress })),
  run: (request, port) =>
    answer<TraceEvent, void>(port, async (tell, signal) => {
      // Events are sent without waiting: a busy page must not delay the device.
      for await (const event of engine.run(request, signal)) tell(event);
    }),
  calibrate: (options, port) =>
    answer<Calibrating, Calibrated>(port, (tell, signal) =>
      engine.calibrate({ ...options, signal, onProgress: (...progress) => tell(progress) }),
    ),
  measure: (options, port) =>
    answer<Measuring, DeviceCard>(port, (onProgress, signal) => engine.measure({ ...options, signal, onProgress })),
  preflight: (models, options, port) =>
    answer<never, Preflight>(port, (_, signal) => engine.preflight(models, { ...options, signal })),
  storedModels: (port) => answer<never, readonly StoredModel[]>(port, () => engine.storedModels()),
  deleteStored: (name, port) => answer<never, void>(port, () => engine.deleteStored(name)),
  close: () => engine.close(),
});
