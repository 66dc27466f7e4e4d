// One engine for all tabs of a site, in a shared worker: one queue, and one copy of a model on the device. Each tab has
// an engine's interface and runs with exactly the models that it loaded: where another tab loaded others since, they
// are loaded again first. A tab that closes ends its runs; the last one frees everything.
import { checkAborted, OutriderError, toFault, unlessAborted } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import { checkLoad } from '../engine/check-load.ts';
import type { Engine, Loaded } from '../engine/engine.ts';
import { sameSource } from '../engine/registry.ts';
import type { LoadOptions, ModelSources } from '../engine/sources.ts';
import type { TraceEvent } from '../trace/index.ts';

interface Wanted {
  readonly models: ModelSources;
  readonly how: Omit<LoadOptions, 'signal' | 'onProgress'>;
}

/** A load that waits or is under way. */
interface Asked extends Pick<LoadOptions, 'onProgress'> {
  readonly wanted: Wanted;
}

const sameModels = (a: Wanted | null, b: Wanted): boolean => {
  if (a === null || JSON.stringify(a.how) !== JSON.stringify(b.how)) return false;
  const there = a.models as Readonly<Record<string, object>>;
  const wanted = b.models as Readonly<Record<string, object>>;
  const roles = Object.keys(wanted);
  return (
    roles.length === Object.keys(there).length &&
    roles.every((role) => there[role] !== undefined && sameSource(there[role], wanted[role] as object))
  );
};

export class Tabs {
  readonly #open: () => Engine;
  readonly #tabs = new Set<object>();
  #engine: Engine | null = null;
  /** What the engine holds; null when that is unknown. */
  #loaded: Wanted | null = null;
  /** Those of the same models hear of each other's progress. */
  readonly #asked = new Set<Asked>();
  /** Loads and starts of runs follow one another, so that no load replaces a run's models before it starts. */
  #last: Promise<unknown> = Promise.resolve();
  /** Those of them that have not ended. */
  #line = 0;
  /** Started runs that have not ended: a load waits for them in the engine's queue. */
  #runs = 0;

  constructor(open: () => Engine) {
    this.#open = open;
  }

  /** The engine as a new tab sees it; `close` leaves. */
  join(): Engine {
    const tab = {};
    const leaving = new AbortController();
    this.#tabs.add(tab);
    let wanted: Wanted | null = null;
    const untilLeft = (signal: AbortSignal | undefined): AbortSignal =>
      signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal;
    /** The engine with this tab's models. */
    const ready = async (signal: AbortSignal): Promise<Engine> => {
      if (wanted && !sameModels(this.#loaded, wanted)) await this.#load(wanted, signal);
      return this.#use();
    };
    return {
      systems: () => this.#use().systems(),
      storedModels: () => this.#use().storedModels(),
      deleteStored: (name) => this.#use().deleteStored(name),
      preflight: (models, options) => this.#use().preflight(models, { ...options, signal: untilLeft(options?.signal) }),
      load: async (models, { signal, onProgress, ...how } = {}) => {
        checkLoad(models, how); // one that is refused at once changes nothing
        const until = untilLeft(signal);
        const now: Wanted = { models, how };
        const begin = async (): Promise<Loaded> => {
          const before = wanted;
          wanted = null; // a load that fails leaves no model loaded
          try {
            const loaded = await this.#load(now, until);
            wanted = now;
            return loaded;
          } catch (error) {
            if (this.#runs > 0) wanted = before; // its turn had not come
            throw error;
          }
        };
        const asked = { wanted: now, onProgress };
        this.#asked.add(asked);
        return this.#alone(until, begin).finally(() => this.#asked.delete(asked));
      },
      run: (request, signal) => {
        const until = untilLeft(signal);
        const begin = async (): Promise<Started> => {
          if (!wanted) throw refuse('no model is loaded in this tab', 'Load one first.');
          const events = (await ready(until)).run(request, until)[Symbol.asyncIterator]();
          return { events, first: await events.next() }; // its first event shows that it is in the engine's queue
        };
        return this.#run(() => this.#alone(until, begin), until);
      },
      calibrate: (options) => {
        const until = untilLeft(options.signal);
        return this.#alone(until, async () => (await ready(until)).calibrate({ ...options, signal: until }));
      },
      measure: (options) => {
        const until = untilLeft(options?.signal);
        return this.#alone(until, async () => (await ready(until)).measure({ ...options, signal: until }));
      },
      close: async () => {
        leaving.abort();
        this.#tabs.delete(tab);
        if (this.#tabs.size > 0) return;
        const engine = this.#engine;
        this.#engine = null;
        this.#loaded = null;
        await engine?.close();
      },
    };
  }

  #use(): Engine {
    if (this.#tabs.size === 0) throw new OutriderError('aborted', 'the engine was closed');
    this.#engine ??= this.#open();
    return this.#engine;
  }

  async #load(wanted: Wanted, signal: AbortSignal): Promise<Loaded> {
    this.#loaded = null;
    const onProgress: LoadOptions['onProgress'] = (progress) => {
      for (const asked of this.#asked) if (sameModels(asked.wanted, wanted)) asked.onProgress?.(progress);
    };
    const loaded = await this.#use().load(wanted.models, { ...wanted.how, signal, onProgress });
    this.#loaded = wanted;
    return loaded;
  }

  async *#run(start: () => Promise<Started>, signal: AbortSignal): AsyncGenerator<TraceEvent, void, undefined> {
    const asked = performance.now();
    let events: AsyncIterator<TraceEvent> | null = null;
    // Another tab's load may take minutes. The engine tells of the runs that are ahead after that.
    if (this.#line > 0) yield { at: 0, type: 'queued', ahead: this.#line };
    try {
      const started = await start();
      events = started.events;
      this.#runs++;
      for (let next = started.first; !next.done; next = await events.next()) yield next.value;
    } catch (error) {
      const { code } = toFault(error);
      if (code === 'device-lost' || code === 'out-of-memory') this.#loaded = null;
      if (!signal.aborted || code !== 'aborted') throw error;
      // It was stopped before it was in the engine's queue.
      yield { at: performance.now() - asked, type: 'done', finish_reason: 'aborted', stop: null, text: null };
    } finally {
      if (events) this.#runs--;
      await events?.return?.();
    }
  }

  /** Runs `work` after all that was begun before. An abort while it waits takes it out of the line. */
  #alone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const mine = (async () => {
      this.#line++;
      try {
        await unlessAborted(before, signal).catch(() => {});
        checkAborted(signal);
        return await work();
      } finally {
        this.#line--;
      }
    })();
    this.#last = Promise.allSettled([before, mine]);
    return mine;
  }
}

interface Started {
  readonly events: AsyncIterator<TraceEvent>;
  readonly first: IteratorResult<TraceEvent>;
}
