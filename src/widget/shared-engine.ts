// The one engine of a page's elements: opened when the first of them is used, closed when the last is gone. What one of
// them loads stays for the others where their targets agree; where they differ, each loads its own before it runs.

import { checkAborted, toFault } from '../base/errors.ts';
import type { Engine, Loaded } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import type { LoadOptions, ModelSources } from '../engine/sources.ts';
import type { TraceEvent } from '../trace/index.ts';

/** What an element runs with. */
export interface Wanted {
  readonly sources: ModelSources;
  readonly precision: LoadOptions['precision'];
}

export interface Preparation {
  readonly wanted: Wanted;
  readonly signal: AbortSignal;
  readonly onProgress: NonNullable<LoadOptions['onProgress']>;
  /** Not called where everything was there. */
  readonly onLoaded: (loaded: Loaded) => void;
}

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** Files read as `{}` in JSON, so sources without an address are the same only where they are one object. */
const sameSource = (a: unknown, b: unknown): boolean => {
  const isAddress = (source: unknown): boolean => (source as { readonly kind?: unknown })?.kind === 'url';
  return isAddress(a) && isAddress(b) ? same(a, b) : a === b;
};

const rolesOf = (sources: ModelSources) => Object.keys(sources) as (keyof ModelSources)[];

const covers = (there: Wanted, wanted: Wanted): boolean =>
  same(there.precision, wanted.precision) &&
  rolesOf(wanted.sources).every((role) => sameSource(there.sources[role], wanted.sources[role]));

/** Together, where no role is wanted twice. */
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
  /** Loading and queueing, one after another: nobody's models go between its load and its run. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(open: () => Engine) {
    this.#open = open;
  }

  /** Until `leave`, the engine lives on once it was used. */
  join(user: object): void {
    if (!this.#users.has(user)) this.#users.set(user, null);
  }

  leave(user: object): void {
    this.#users.delete(user);
    if (this.#users.size === 0) this.#discard();
  }

  prepare(user: object, preparation: Preparation): Promise<void> {
    return this.#inTurn(async () => void (await this.#ready(user, preparation)));
  }

  /** Loads what is missing, then runs. */
  async *run(user: object, preparation: Preparation, request: RunRequest): AsyncGenerator<TraceEvent, void, undefined> {
    try {
      const { run, first } = await this.#inTurn(async () => {
        const engine = await this.#ready(user, preparation);
        const run = engine.run(request, preparation.signal)[Symbol.asyncIterator]();
        return { run, first: await run.next() }; // with its first event it stands in the engine's queue
      });
      for (let next = first; !next.done; next = await run.next()) yield next.value;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  async #ready(user: object, { wanted, signal, onProgress, onLoaded }: Preparation): Promise<Engine> {
    checkAborted(signal);
    this.#users.set(user, wanted);
    this.#engine ??= this.#open();
    if (this.#there && covers(this.#there, wanted)) return this.#engine;
    const others = [...this.#users.values()].filter((other) => other !== null);
    const all = others.reduce(joined, wanted);
    const { precision } = wanted;
    this.#there = null; // a load that fails leaves nothing behind
    try {
      onLoaded(await this.#engine.load(all.sources, { signal, onProgress, ...(precision && { precision }) }));
    } catch (error) {
      this.#failed(error);
      throw error;
    }
    this.#there = all;
    return this.#engine;
  }

  /** After these nothing that was loaded can be relied on; after the second, not even the worker. */
  #failed(error: unknown): void {
    const { code } = toFault(error);
    if (code === 'device-lost' || code === 'out-of-memory') this.#there = null;
    if (code === 'bug') this.#discard();
  }

  #discard(): void {
    const engine = this.#engine;
    this.#engine = null;
    this.#there = null;
    engine?.close().catch(() => {}); // of a worker that has died
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
