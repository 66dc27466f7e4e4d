// Read this first. An engine holds the models of one device and answers requests one after another. A decoding system
// commits tokens round by round, and the run is a stream of trace events that ends with `done`. A worker serves the
// same interface (worker/client.ts).
import { checkAborted } from '../base/errors.ts';
import { missingRoles } from '../decode/core/missing-roles.ts';
import { PrefixCache } from '../decode/core/prefix-cache.ts';
import { type DecodingSystem, describeSystem, type Sequence, type SystemFacts } from '../decode/core/system.ts';
import { Timings } from '../decode/core/timings.ts';
import { Transcript } from '../decode/core/transcript.ts';
import { openBrowserGpu } from '../gpu/browser.ts';
import { Gpu } from '../gpu/device.ts';
import { meter } from '../gpu/meter.ts';
import { Profile } from '../gpu/profile.ts';
import { SYSTEMS } from '../systems/index.ts';
import type { Emit, TraceEvent } from '../trace/index.ts';
import { type Calibrated, type CalibrateOptions, calibrate } from './calibrate.ts';
import { type DeviceCard, type MeasureOptions, measureCard } from './device-card.ts';
import { type Job, modelsOf, readRequest } from './job.ts';
import type { LoadedDrafter, LoadedJudge, LoadedModel } from './load/loaded-models.ts';
import { type Preflight, type PreflightOptions, preflight } from './preflight.ts';
import { Queue } from './queue.ts';
import { ModelRegistry } from './registry.ts';
import type { RunRequest } from './request.ts';
import type { LoadOptions, ModelSources } from './sources.ts';

/** Holds models and answers requests, one after another. */
export interface Engine {
  /** The facts of all decoding systems: needs, knobs, guarantee. Available before a load and without a GPU. */
  systems(): Promise<readonly SystemFacts[]>;
  /**
   * Afterwards exactly these models are loaded. A model that was loaded and is asked for again at the same precision
   * stays; all others are freed first. After a failed or aborted load no model is loaded.
   */
  load(models: ModelSources, options?: LoadOptions): Promise<Loaded>;
  /** Runs queue up. An abort ends the stream with `done`; every other failure is thrown as an OutriderError. */
  run(request: RunRequest, signal?: AbortSignal): AsyncIterable<TraceEvent>;
  /**
   * Finds the usual range of the draft's step signals, which SpecGuard reads, and stores it next to the draft. It runs
   * every prompt several times; other runs may come in between.
   */
  calibrate(options: CalibrateOptions): Promise<Calibrated>;
  /** Measures the device, and the passes of the target if one is loaded. Takes seconds, and queues like a run. */
  measure(options?: MeasureOptions): Promise<DeviceCard>;
  /** Tells whether these models would fit, from their headers alone. */
  preflight(models: ModelSources, options?: PreflightOptions): Promise<Preflight>;
  /** Aborts what runs and frees everything. */
  close(): Promise<void>;
}

/** Where an engine takes its device, the bundled models and its systems from. */
export interface EngineOptions {
  /** Default: the browser's, opened by the first load that needs it. In Node: `openNodeGpu()`. */
  readonly gpu?: Gpu | GPUDevice;
  /** The address under which `models/` is served. Default: the page's own. */
  readonly base?: string;
  /** Default: all of systems/index.ts. */
  readonly systems?: readonly DecodingSystem[];
}

/** What is loaded and what can run with it, as plain data. */
export interface Loaded {
  readonly adapter: { readonly vendor: string; readonly architecture: string; readonly description: string } | null;
  /** The systems that these models serve, with the knobs as these models have them. */
  readonly systems: readonly SystemFacts[];
  readonly models: Readonly<Record<string, ModelInfo>>;
  /** For people: what works differently than asked for, such as downloads that cannot be kept. Null: nothing. */
  readonly notice: string | null;
}

/** The facts of a loaded model. */
export interface ModelInfo {
  readonly name: string;
  readonly family: string;
  /** Absent for drafters and judges. */
  readonly vocabulary?: number;
  readonly context: number;
  /** The weights on the device. */
  readonly bytes: number;
  /** What its tokenizer reads: token ids only, texts, or conversations too. */
  readonly text: 'none' | 'raw' | 'chat';
  /** False when this device scores a row alone differently than among others: its passes are padded, and slower. */
  readonly batchInvariant?: boolean;
}

/** An engine in this thread: on a page, in a worker, or in Node. */
export const createEngine = (options: EngineOptions = {}): Engine => new LocalEngine(options);

class LocalEngine implements Engine {
  readonly #queue = new Queue();
  readonly #prefixCache = new PrefixCache();
  readonly #closing = new AbortController();
  readonly #ownsDevice: boolean;
  readonly #registry: ModelRegistry;
  readonly #systems: readonly DecodingSystem[];
  #gpu: Gpu | null;
  #cache: 'f32' | 'f16' = 'f32';
  /** By system: a pass of one keeps more rows than that of another. */
  readonly #timings = new Map<string, Timings>();

  constructor({ gpu, base, systems = SYSTEMS }: EngineOptions) {
    this.#registry = new ModelRegistry(() => this.#device(), base);
    this.#systems = systems;
    this.#gpu = gpu ? (gpu instanceof Gpu ? gpu : new Gpu(gpu)) : null;
    this.#ownsDevice = !gpu;
  }

  async systems(): Promise<readonly SystemFacts[]> {
    return this.#systems.map((system) => describeSystem(system));
  }

  async load(sources: ModelSources, { cache = 'f32', ...options }: LoadOptions = {}): Promise<Loaded> {
    const signal = this.#untilClosed(options.signal);
    using ticket = this.#queue.join();
    while (ticket.ahead > 0 && !signal.aborted) await ticket.moved(ticket.ahead, signal);
    checkAborted(signal);
    this.#forget();
    if (this.#gpu?.failure) this.#registry.clear();
    await this.#registry.load(sources, { ...options, signal });
    this.#cache = cache;
    return this.#describe();
  }

  async *run(request: RunRequest, signal?: AbortSignal): AsyncGenerator<TraceEvent, void, undefined> {
    const asked = performance.now();
    const clock = (): number => performance.now() - asked;
    const stop = this.#untilClosed(signal);
    using ticket = this.#queue.join();
    while (ticket.ahead > 0 && !stop.aborted) {
      const { ahead } = ticket;
      yield { at: clock(), type: 'queued', ahead };
      await ticket.moved(ahead, stop);
    }
    if (ticket.ahead > 0) yield { at: clock(), type: 'done', finish_reason: 'aborted', stop: null, text: null };
    else yield* this.#generate(readRequest(request, this.#registry.models, this.#systems), clock, stop);
  }

  async calibrate(options: CalibrateOptions): Promise<Calibrated> {
    return calibrate(
      (request, signal) => this.run(request, signal),
      () => this.#registry.models.draft,
      options,
    );
  }

  async measure(options: MeasureOptions = {}): Promise<DeviceCard> {
    const signal = this.#untilClosed(options.signal);
    using ticket = this.#queue.join();
    while (ticket.ahead > 0 && !signal.aborted) await ticket.moved(ticket.ahead, signal);
    checkAborted(signal);
    return measureCard(await this.#device(), this.#registry.models.target, { ...options, signal });
  }

  async preflight(models: ModelSources, options: PreflightOptions = {}): Promise<Preflight> {
    const signal = this.#untilClosed(options.signal);
    return preflight(models, { ...options, signal }, { gpu: await this.#device(), registry: this.#registry });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    using ticket = this.#queue.join();
    while (ticket.ahead > 0) await ticket.moved(ticket.ahead, new AbortController().signal);
    this.#forget();
    this.#registry.clear();
    if (this.#ownsDevice) this.#gpu?.destroy();
  }

  /** The round loop: every system, from plain decoding to step routing, repeats "commit at least one token". */
  async *#generate(job: Job, clock: () => number, signal: AbortSignal): AsyncGenerator<TraceEvent, void, undefined> {
    const { system, models, knobs, prompt, sampling, limits, logprobs } = job;
    const events: TraceEvent[] = [];
    const emit: Emit = (event) => {
      events.push({ at: clock(), ...event, ...transcript.tokenText(event) } as TraceEvent);
    };
    const device = this.#gpu && meter(this.#gpu);
    const rows = prompt.length + limits.maxTokens;
    const tokens = [...prompt];
    const sequence: Sequence = {
      tokens,
      get budget() {
        return rows - tokens.length;
      },
      sampling,
      alternatives: logprobs,
    };
    // Rounds are slower while their kernels are timed, so other runs must not use their times.
    const timings = (!job.profile && this.#timings.get(system.id)) || new Timings();
    if (!job.profile) this.#timings.set(system.id, timings);
    const transcript = new Transcript(limits, job.tokenizer);

    const { escalates, threshold } = system;
    const rule = escalates && threshold ? { escalates, threshold } : null;
    yield { at: clock(), type: 'run', version: 1, system: system.id, ...rule, knobs, seed: sampling.seed, prompt };
    if (job.fresh) this.#prefixCache.unread();
    const profile = job.profile && this.#gpu ? new Profile(this.#gpu) : null;
    try {
      let begin = clock();
      const { first, round: next } = await system.start({
        models,
        sequence,
        knobs,
        emit,
        signal,
        timings,
        tokenText: job.tokenizer && ((token) => transcript.textOf(token) ?? ''),
        stopTokens: limits.stopTokens,
        sidecar: async (file) => (await this.#registry.models.draft?.sidecar?.read(file)) ?? null,
        open: (role, options) => this.#prefixCache.open(role, models, prompt, rows, { ...options, cache: this.#cache }),
        join: (members, combination, options) => this.#prefixCache.join(members, models, combination, options),
      });
      for (let round = first ? 0 : 1; !transcript.ending && !signal.aborted; round++) {
        const commit = round === 0 && first ? first : await next({ sequence, round, emit, signal });
        const kept = transcript.take(commit, logprobs !== null);
        tokens.push(...kept.tokens);
        emit({ type: 'commit', round, ...kept, ms: clock() - begin });
        if (device) {
          const { readbackBytes, ...work } = device();
          const spans = (await profile?.take()) ?? [];
          emit({ type: 'kernels', round, ...work, readback_bytes: readbackBytes, spans });
        }
        yield* events.splice(0);
        begin = clock();
      }
    } catch (error) {
      this.#prefixCache.clear(); // an interrupted round may have left anything in the caches
      if (!signal.aborted) throw error;
    } finally {
      profile?.stop();
      this.#prefixCache.keep(tokens);
    }
    const { finish_reason, stop } = transcript.ending ?? { finish_reason: 'aborted', stop: null };
    emit({ type: 'done', finish_reason, stop, text: transcript.end() });
    yield* events;
  }

  #untilClosed(signal: AbortSignal | undefined): AbortSignal {
    const closed = this.#closing.signal;
    return signal ? AbortSignal.any([signal, closed]) : closed;
  }

  /** The next load replaces a lost device, unless the caller supplied it. */
  async #device(): Promise<Gpu> {
    if (this.#gpu?.failure && !this.#ownsDevice) throw this.#gpu.failure;
    if (!this.#gpu || this.#gpu.failure) {
      this.#gpu?.destroy();
      this.#gpu = await openBrowserGpu();
    }
    return this.#gpu;
  }

  /** Forgets what was learned about models that the next load may free. */
  #forget(): void {
    this.#prefixCache.clear();
    this.#timings.clear();
  }

  #describe(): Loaded {
    const loaded = this.#registry.models;
    const models = modelsOf(loaded);
    // These read no text of a run, or are known by name only: no ModelInfo describes them.
    const { policy: _, remote: __, sentences, ...readers } = loaded;
    const notices = [this.#registry.store, loaded.remote, loaded.prm, loaded.router, sentences].flatMap(
      (each) => each?.notice ?? [],
    );
    const info = this.#gpu?.info;
    return {
      adapter: info ? { vendor: info.vendor, architecture: info.architecture, description: info.description } : null,
      systems: this.#systems
        .filter((system) => models && missingRoles(system, (role) => loaded[role] !== undefined).length === 0)
        .map((system) => describeSystem(system, models ?? undefined)),
      models: Object.fromEntries(
        Object.entries(readers).flatMap(([role, loaded]) => (loaded ? [[role, describeModel(loaded)]] : [])),
      ),
      notice: notices.join(' ') || null,
    };
  }
}

const describeModel = ({ name, model, ...loaded }: LoadedModel | LoadedDrafter | LoadedJudge): ModelInfo => {
  const { family, context, bytes } = model;
  const tokenizer = 'tokenizer' in loaded ? loaded.tokenizer : null;
  const text = tokenizer ? (tokenizer.hasChatTemplate ? 'chat' : 'raw') : 'none';
  const own = 'vocabulary' in model ? { vocabulary: model.vocabulary, batchInvariant: model.batchInvariant } : null;
  return { name, family, context, bytes, text, ...own };
};
