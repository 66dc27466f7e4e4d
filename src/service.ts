// An engine as a worker serves it: the calls of client.ts, each answered over its own port.
import { answer } from './call.ts';
import type { Engine, Loaded, LoadOptions, LoadProgress, ModelSources } from './engine.ts';
import type { RunRequest } from './request.ts';
import type { TraceEvent } from './trace.ts';

export interface Service {
  load(models: ModelSources, options: Pick<LoadOptions, 'precision' | 'cache'>, port: MessagePort): Promise<void>;
  run(request: RunRequest, port: MessagePort): Promise<void>;
  close(): Promise<void>;
}

export const serve = (engine: Engine): Service => ({
  load: (models, options, port) =>
    answer<LoadProgress, Loaded>(port, (onProgress, signal) => engine.load(models, { ...options, signal, onProgress })),
  run: (request, port) =>
    answer<TraceEvent, void>(port, async (tell, signal) => {
      // Events are pushed, never waited for: a busy page must not hold up the device.
      for await (const event of engine.run(request, signal)) tell(event);
    }),
  close: () => engine.close(),
});
