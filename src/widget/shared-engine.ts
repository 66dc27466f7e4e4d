// The engine that a page's elements share: opened when the first of them is used, closed when the last is gone. Models
// that one element loads stay for the others when their targets agree; otherwise each loads its own before it runs.
import { checkAborted, toFault, unlessAborted } from '../base/errors.ts';
import type { SystemFacts } from '../decode/core/system.ts';
import type { Engine, Loaded } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import type { LoadOptions, ModelSources } from '../engine/sources.ts';
import type { TraceEvent } from '../trace/index.ts';

/** What an element runs with. */
export interface Wanted {
  readonly sources: ModelSources;
  readonly precision: LoadOptions['precision'];
}

/** How an element is made ready to run. */
export interface Preparation {
  /** What the element wants, given the engine's systems. */
  readonly wanted: (systems: readonly SystemFacts[]) => Promise<Wanted>;
  readonly signal: AbortSignal;
  readonly onProgress: NonNullable<LoadOptions['onProgress']>;
  /** Not called when everything was loaded already. */
  readonly onLoaded: (loaded: Loaded) => void;
}

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** JSON shows files as `{}`, so sources without an address are the same only when they are one object. */
const sameSource = (a: unknown, b: unknown): boolean => {
  const isAddress = (source: unknown): boolean => (source as { readonly kind?: unknown })?.kind === 'url';
  return isAddress(a) && isAddress(b) ? same(a, b) : a === b;
};

const rolesOf = (sources: ModelSources) => Object.keys(sources) as (keyof ModelSources)[];

const covers = (there: Wanted, wanted: Wanted): boolean =>
  same(there.precision, wanted.precision) &&
  rolesOf(wanted.sources).every((role) => sameSource(there.sources[role], wanted.sources[role]));

/** Both together; the first alone when they want different models for one role. */
const joined = (a: Wanted, b: Wanted): Wanted => {
  const conflict = rolesOf(b.sources).some(
    (role) => role in a.sources && !sameSource(a.sources[role], b.sources[role]),
  );
  return conflict || !same(a.precision, b.precision) ? a : { ...a, sources: { ...b.sources, ...a.sources } };
};

export class EnginePool {
  readonly #open: () => Engine;
  readonly #users = new Map<object, Wanted | null>();
  #engine: Engine | null = null;
  #there: Wanted | null = null;
  /** Loads and starts of runs follow one another, so no other load frees a run's models before it starts. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(open: () => Engine) {
    this.#open = open;
  }

  /** Keeps the engine open until `leave`, once it was opened. */
  join(user: object): void {
    if (!this.#users.has(user)) this.#users.set(user, null);
  }

  leave(user: object): void {
    this.#users.delete(user);
    if (this.#users.size === 0) this.#discard();
  }

  prepare(user: object, preparation: Preparation): Promise<void> {
    return this.#afterOthers(preparation.signal, async () => void (await this.#ready(user, preparation)));
  }

  /** Loads what is missing, then runs. */
  async *run(user: object, preparation: Preparation, request: RunRequest): AsyncGenerator<TraceEvent, void, undefined> {
    let events: AsyncIterator<TraceEvent> | null = null;
    try {
      const started = await this.#afterOthers(preparation.signal, async () => {
        const engine = await this.#ready(user, preparation);
        const run = engine.run(request, preparation.signal)[Symbol.asyncIterator]();
        return { run, first: await run.next() }; // its first event shows that it is in the engine's queue
      });
      events = started.run;
      for (let next = started.first; !next.done; next = await events.next()) yield next.value;
    } catch (error) {
      this.#failed(error);
      throw error;
    } finally {
      await events?.return?.(); // one that is not read to its end would hold the engine's queue
    }
  }

  /** The engine, opened if it was not. */
  use(): Engine {
    this.#engine ??= this.#open();
    return this.#engine;
  }

  async #ready(user: object, { wanted: wantedOf, signal, onProgress, onLoaded }: Preparation): Promise<Engine> {
    const engine = this.use();
    try {
      const wanted = await wantedOf(await engine.systems());
      checkAborted(signal); // the user may have left meanwhile
      this.#users.set(user, wanted);
      if (this.#there && covers(this.#there, wanted)) return engine;
      const others = [...this.#users.values()].filter((other) => other !== null);
      const all = others.reduce(joined, wanted);
      const { precision } = wanted;
      this.#there = null; // a load that fails leaves no model loaded
      onLoaded(await engine.load(all.sources, { signal, onProgress, ...(precision && { precision }) }));
      this.#there = all;
      return engine;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  /** Two errors lose the models; after a `bug` the worker is replaced too. */
  #failed(error: unknown): void {
    const { code } = toFault(error);
    if (code === 'device-lost' || code === 'out-of-memory') this.#there = null;
    if (code === 'bug') this.#discard();
  }

  #discard(): void {
    const engine = this.#engine;
    this.#engine = null;
    this.#there = null;
    engine?.close().catch(() => {}); // the worker may have died
  }

  /** An abort ends the waiting, and keeps the place of those that come later. */
  #afterOthers<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const mine = (async () => {
      await unlessAborted(before, signal).catch(() => {});
      checkAborted(signal);
      return work();
    })();
    this.#last = Promise.allSettled([before, mine]);
    return mine;
  }
}
