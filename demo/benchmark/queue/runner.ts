// Runners write answers in a worker of their own: the engine, or a peer. A dead worker, a lost device and a run without
// progress all end as a thrown error; the caller goes on with a new worker.
import { proxy, wrap } from 'comlink';
import type { BenchEntry, BenchPrompt } from '../../../src/cli/bench/report.ts';
import { connect, type DeviceCard, type LoadOptions, type ModelSources, OutriderError } from '../../../src/index.ts';
import type { TraceEvent } from '../../../src/trace/index.ts';
import { hubFault } from '../peer/hub-errors.ts';
import type { PeerLoaded, PeerModel, PeerService } from '../peer/peer-service.ts';
import type { Counts } from './counters.ts';
import { withIdleTimeout } from './idle-timeout.ts';
import { askCounts, since } from './read-counters.ts';
import { untilAborted } from './until-aborted.ts';

export interface Request {
  readonly prompt: BenchPrompt;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
  readonly ignoreEos: boolean;
}

export interface Answer {
  readonly events: readonly TraceEvent[];
  /** GPU calls of the whole run, the prompt included. */
  readonly counted: Counts;
}

export interface Runner extends Disposable {
  /** Bytes of weights by role: on the device, or for a peer in its files. */
  readonly bytes: Readonly<Record<string, number>>;
  readonly version: string | null;
  /** Name of its worker's file. */
  readonly file: string;
  run(entry: BenchEntry, request: Request, onTokens: (tokens: number) => void): Promise<Answer>;
}

/** The engine, which one row after another uses. */
export interface EngineRunner extends Runner {
  /** Loads exactly these models. Those that are loaded already stay, with their shaders. */
  load(setup: EngineSetup, onProgress: OnProgress): Promise<void>;
}

export interface EngineSetup {
  readonly sources: ModelSources;
  readonly precision: LoadOptions['precision'];
  readonly base: string;
}

type OnProgress = (what: string, count?: string) => void;

/** Rejects when the worker dies. */
const death = (worker: Worker): Promise<never> => {
  const dead = new Promise<never>((_, reject) => {
    worker.addEventListener('error', ({ message }) =>
      reject(new OutriderError('bug', `the worker has stopped: ${message || 'its script could not be loaded'}`)),
    );
  });
  dead.catch(() => {}); // reported to those who race against it
  return dead;
};

/** Runs `work` and counts its GPU calls. It fails if the worker dies or makes no progress. */
const counting = async (
  worker: Worker,
  dead: Promise<never>,
  work: (alive: () => void) => Promise<readonly TraceEvent[]>,
): Promise<Answer> => {
  const before = await Promise.race([askCounts(worker, 'reset'), dead]);
  const events = await withIdleTimeout((alive) => Promise.race([work(alive), dead]));
  const after = await Promise.race([askCounts(worker, 'read'), dead]);
  return { events, counted: since(before, after) };
};

const startEngine = (): Worker =>
  new Worker(new URL('./engine-worker.ts', import.meta.url), { type: 'module', name: 'outrider' });

/** `base`: where bundled models are served. */
export const openEngine = (base: string): EngineRunner => {
  const worker = startEngine();
  const dead = death(worker);
  const engine = connect({ worker, base });
  let bytes: Runner['bytes'] = {};
  return {
    get bytes() {
      return bytes;
    },
    version: null,
    file: 'engine-worker',
    async load({ sources, precision }, onProgress) {
      const { models } = await withIdleTimeout((alive) =>
        engine.load(sources, {
          precision,
          onProgress({ role, phase, loaded, total }) {
            alive();
            onProgress(`${role}, ${phase}`, `${total > 0 ? Math.floor((100 * loaded) / total) : 0} %`);
          },
        }),
      );
      bytes = Object.fromEntries(Object.entries(models).map(([role, model]) => [role, model.bytes]));
    },
    run: ({ system, knobs }, { prompt, ...request }, count) =>
      counting(worker, dead, async (alive) => {
        const events: TraceEvent[] = [];
        const asked = { ...request, prompt: prompt.prompt, system: system.id, knobs, fresh: true };
        let tokens = 0;
        for await (const event of engine.run(asked)) {
          alive();
          events.push(event);
          if (event.type === 'commit') tokens += event.tokens.length;
          count(tokens);
        }
        return events;
      }),
    [Symbol.dispose]: () => worker.terminate(),
  };
};

const startPeer = (): Worker =>
  new Worker(new URL('../peer/peer-worker.ts', import.meta.url), { type: 'module', name: 'peer' });

/** An abort ends its worker, which may be downloading. */
export const openPeer = async (model: PeerModel, onProgress: OnProgress, signal: AbortSignal): Promise<Runner> => {
  const worker = startPeer();
  const dead = death(worker);
  const service = wrap<PeerService>(worker);
  try {
    const { bytes, version } = await withIdleTimeout((alive) => {
      const loading: OnProgress = (...told) => {
        alive();
        onProgress(...told);
      };
      const loaded = service.load(model, proxy(loading)) as Promise<PeerLoaded>;
      return untilAborted(Promise.race([loaded, dead]), signal);
    });
    return {
      bytes: { target: bytes },
      version,
      file: 'peer-worker',
      run: (_, { prompt, maxTokens, ignoreEos, temperature }, count) =>
        counting(worker, dead, async (alive) => {
          const counted = (tokens: number): void => {
            alive();
            count(tokens);
          };
          const asked = { prompt: prompt.prompt, maxTokens, ignoreEos, temperature };
          return (await service.generate(asked, proxy(counted))).events;
        }),
      [Symbol.dispose]: () => worker.terminate(),
    };
  } catch (error) {
    worker.terminate();
    throw hubFault(error, model) ?? error;
  }
};

/** Measures the device card in a worker of its own, which an abort ends. */
export const measureDevice = async (
  { sources, precision, base }: EngineSetup,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<DeviceCard> => {
  const worker = startEngine();
  const engine = connect({ worker, base });
  const measure = async (alive: () => void): Promise<DeviceCard> => {
    const { target } = sources;
    onProgress('loading the target');
    if (target) await engine.load({ target }, { precision, onProgress: alive });
    return engine.measure({
      onProgress(what) {
        alive();
        onProgress(what === 'device' ? 'bandwidth and multiply-adds' : 'passes over 1 to 16 rows');
      },
    });
  };
  try {
    return await withIdleTimeout((alive) => untilAborted(measure(alive), signal));
  } finally {
    worker.terminate();
  }
};
