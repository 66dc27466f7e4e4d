// Whoever writes answers, in a worker of its own: our engine, or a peer. A worker that dies, a device that is lost and a
// silence that lasts too long all end as one thrown error; whoever asked goes on with a new worker.
import { proxy, wrap } from 'comlink';
import type { BenchEntry, BenchPrompt } from '../../../src/cli/bench/report.ts';
import { connect, type DeviceCard, type LoadOptions, type ModelSources, OutriderError } from '../../../src/index.ts';
import type { TraceEvent } from '../../../src/trace/index.ts';
import { hubFault } from '../peer/hub-errors.ts';
import type { PeerLoaded, PeerModel, PeerService } from '../peer/peer-service.ts';
import type { Counts } from './counters.ts';
import { withPatience } from './idle-timeout.ts';
import { askCounts, since } from './read-counters.ts';

export interface Request {
  readonly prompt: BenchPrompt;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
  readonly ignoreEos: boolean;
}

export interface Answer {
  readonly events: readonly TraceEvent[];
  /** Of the whole run, the prompt included. */
  readonly counted: Counts;
}

export interface Runner extends Disposable {
  /** Weights of each role, on the device or, of a peer, in its files. */
  readonly bytes: Readonly<Record<string, number>>;
  readonly version: string | null;
  /** How its worker's file is called. */
  readonly file: string;
  run(entry: BenchEntry, request: Request, tell: (tokens: number) => void): Promise<Answer>;
}

export interface EngineSetup {
  readonly sources: ModelSources;
  readonly precision: LoadOptions['precision'];
  readonly base: string;
}

type Tell = (what: string) => void;

/** Rejects when the worker dies. */
const death = (worker: Worker): Promise<never> => {
  const dead = new Promise<never>((_, reject) => {
    worker.addEventListener('error', ({ message }) =>
      reject(new OutriderError('bug', `the worker has stopped: ${message || 'its script could not be loaded'}`)),
    );
  });
  dead.catch(() => {}); // whoever waits hears of it
  return dead;
};

/** Counts around `work`, which must not outlast its worker or be silent for long. */
const counting = async (
  worker: Worker,
  dead: Promise<never>,
  work: (alive: () => void) => Promise<readonly TraceEvent[]>,
): Promise<Answer> => {
  const before = await Promise.race([askCounts(worker, 'reset'), dead]);
  const events = await withPatience((alive) => Promise.race([work(alive), dead]));
  const after = await Promise.race([askCounts(worker, 'tell'), dead]);
  return { events, counted: since(before, after) };
};

const startEngine = (): Worker =>
  new Worker(new URL('./engine-worker.ts', import.meta.url), { type: 'module', name: 'outrider' });

export const openEngine = async ({ sources, precision, base }: EngineSetup, tell: Tell): Promise<Runner> => {
  const worker = startEngine();
  const dead = death(worker);
  const engine = connect({ worker, base });
  try {
    const { models } = await withPatience((alive) =>
      engine.load(sources, {
        precision,
        onProgress({ role, phase, loaded, total }) {
          alive();
          tell(`${role}, ${phase} ${total > 0 ? Math.floor((100 * loaded) / total) : 0} %`);
        },
      }),
    );
    return {
      bytes: Object.fromEntries(Object.entries(models).map(([role, model]) => [role, model.bytes])),
      version: null,
      file: 'engine-worker',
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
  } catch (error) {
    worker.terminate();
    throw error;
  }
};

const startPeer = (): Worker =>
  new Worker(new URL('../peer/peer-worker.ts', import.meta.url), { type: 'module', name: 'peer' });

export const openPeer = async (model: PeerModel, tell: Tell): Promise<Runner> => {
  const worker = startPeer();
  const dead = death(worker);
  const service = wrap<PeerService>(worker);
  try {
    const { bytes, version } = await withPatience((alive) => {
      const told = (what: string): void => {
        alive();
        tell(what);
      };
      return Promise.race([service.load(model, proxy(told)) as Promise<PeerLoaded>, dead]);
    });
    return {
      bytes: { target: bytes },
      version,
      file: 'peer-worker',
      run: (_, { prompt, maxTokens, ignoreEos, temperature }, count) =>
        counting(worker, dead, async (alive) => {
          const told = (tokens: number): void => {
            alive();
            count(tokens);
          };
          const asked = { prompt: prompt.prompt, maxTokens, ignoreEos, temperature };
          return (await service.generate(asked, proxy(told))).events;
        }),
      [Symbol.dispose]: () => worker.terminate(),
    };
  } catch (error) {
    worker.terminate();
    throw hubFault(error, model) ?? error;
  }
};

/** The device card, in a worker of its own too. */
export const measureDevice = async ({ sources, precision, base }: EngineSetup, tell: Tell): Promise<DeviceCard> => {
  const worker = startEngine();
  const engine = connect({ worker, base });
  try {
    return await withPatience(async (alive) => {
      const { target } = sources;
      const onProgress = (): void => alive();
      tell('loading the target');
      if (target) await engine.load({ target }, { precision, onProgress });
      return engine.measure({
        onProgress(what) {
          alive();
          tell(what === 'device' ? 'bandwidth and multiply-adds' : 'passes over 1 to 16 rows');
        },
      });
    });
  } finally {
    worker.terminate();
  }
};
