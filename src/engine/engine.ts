// Read this first. An engine holds the models of one device and answers requests one after another. A decoding system
// commits tokens round by round, and the run is a stream of trace events that ends with `done`. A worker serves the
// same interface (worker/client.ts).

import { checkSignal } from '../base/check-signal.ts';
import { checkAborted, OutriderError, toFault, unlessAborted } from '../base/errors.ts';
import { ConstraintCompiler } from '../constraint/compile.ts';
import { loadXGrammar } from '../constraint/xgrammar.ts';
import { constrainedCursor } from '../decode/core/constrained-cursor.ts';
import { draftSampling } from '../decode/core/draft-sampling.ts';
import { missingRoles } from '../decode/core/missing-roles.ts';
import { PrefixCache } from '../decode/core/prefix-cache.ts';
import {
  type DecodingSystem,
  describeSystem,
  type RunContext,
  type Sequence,
  type SystemFacts,
} from '../decode/core/system.ts';
import { Timings } from '../decode/core/timings.ts';
import { openBrowserGpu } from '../gpu/browser.ts';
import { meter } from '../gpu/meter.ts';
import { Profile } from '../gpu/profile.ts';
import type { CachePrecision, Cursor } from '../model/interface.ts';
import { SYSTEMS } from '../systems/index.ts';
import { retokenise } from '../text/retokenise.ts';
import type { TraceEvent } from '../trace/index.ts';
import type { StoredModel } from '../weights/files/stored-models.ts';
import { Answer } from './answer.ts';
import { withBuiltIn } from './built-in.ts';
import { type Calibrated, type CalibrateOptions, calibrate } from './calibrate.ts';
import { checkLoad, checkPreflight } from './check-load.ts';
import { takeRequest } from './check-request.ts';
import { ConstrainedRun } from './constrained-run.ts';
import { type DeviceCard, type MeasureOptions, measureCard } from './device-card.ts';
import { EngineDevice } from './engine-device.ts';
import { checkEngine, type EngineOptions } from './engine-options.ts';
import { Idle } from './idle.ts';
import { type Job, modelsOf, readRequest } from './job.ts';
import {
  type LoadedDrafter,
  type LoadedJudge,
  type LoadedModel,
  type ModelLoadTimes,
  modelsFor,
} from './load/loaded-models.ts';
import { type Preflight, type PreflightOptions, preflight } from './preflight.ts';
import { scorePrompt } from './prompt-scores.ts';
import { Queue } from './queue.ts';
import { ModelRegistry } from './registry.ts';
import type { RunRequest } from './request.ts';
import type { LoadOptions, ModelSources } from './sources.ts';

/** Holds models and answers requests, one after another. */
export interface Engine {
  /** The facts of all decoding systems: needs, knobs, guarantee. Available before a load and without a GPU. */
  systems(): Promise<readonly SystemFacts[]>;
  /**
   * Afterwards exactly these models are loaded; `load({})` frees all. A model that was loaded and is asked for again at
   * the same precision stays; all others are freed first. After a failed or aborted load no model is loaded; one that is
   * refused at once, or aborted before its turn, changes nothing. Throws an OutriderError: `bad-request`, `no-webgpu`, `download-failed`,
   * `bad-checkpoint`, `vocabulary-mismatch`, `out-of-memory`, `device-lost` or `aborted`.
   */
  load(models: ModelSources, options?: LoadOptions): Promise<Loaded>;
  /**
   * Runs queue up. An abort ends the stream with `done`; every other failure is thrown as an OutriderError: `bad-request`,
   * `bad-constraint`, `out-of-memory`, `device-lost`, `bad-checkpoint`, or `download-failed` where another machine is asked.
   */
  run(request: RunRequest, signal?: AbortSignal): AsyncIterable<TraceEvent>;
  /**
   * Finds the usual range of the draft's step signals, which SpecGuard reads, and stores it next to the draft. It runs
   * every prompt several times; other runs may come in between, but in an engine that tabs share they wait until it has
   * ended. `bad-request`: there is no draft, or its answers have too few steps.
   */
  calibrate(options: CalibrateOptions): Promise<Calibrated>;
  /** Measures the device, and the passes of the target if one is loaded. Takes seconds, and queues like a run. */
  measure(options?: MeasureOptions): Promise<DeviceCard>;
  /** Tells whether these models would fit this device, from the headers of their files. Throws as `load` does. */
  preflight(models: ModelSources, options?: PreflightOptions): Promise<Preflight>;
  /** The models that were downloaded and are stored on this device. */
  storedModels(): Promise<readonly StoredModel[]>;
  /** Deletes a stored model, by its name in `storedModels`; another name is refused. One that is loaded stays loaded. */
  deleteStored(name: string): Promise<void>;
  /** Aborts what runs and frees everything. */
  close(): Promise<void>;
}

/** What is loaded and what can run with it, as plain data. */
export interface Loaded {
  /** Null until a load or a preflight needed a GPU. A browser may leave the texts empty. `software`: the CPU does the work. */
  readonly adapter: {
    readonly vendor: string;
    readonly architecture: string;
    readonly description: string;
    readonly software: boolean;
  } | null;
  /** The systems that these models serve, with the knobs as these models have them. */
  readonly systems: readonly SystemFacts[];
  /** By role: language models, drafters and judges of this machine. */
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
  /** The most tokens that a prompt and its answer may have together. */
  readonly context: number;
  /** Bytes on the device: weights, and activations that all runs share. Caches are not counted. */
  readonly bytes: number;
  /** What its tokenizer reads: token ids only, texts, or conversations too. */
  readonly text: 'none' | 'raw' | 'chat';
  /** False when this device scores a row alone differently than among others: its passes are padded, and slower. */
  readonly batchInvariant?: boolean;
  /** Its files also hold an MTP layer, which drafts for it: `load({ target, mtp: 'built-in' })`. Absent: they do not. */
  readonly mtp?: true;
  /** What its load took. Absent for drafters and judges. */
  readonly times?: ModelLoadTimes;
}

/** Reads a file next to the draft. */
type ReadSidecar = (file: string, signal: AbortSignal) => unknown;

/** An engine in this thread: on a page, in a worker, or in Node. */
export const createEngine = (options: EngineOptions = {}): Engine => {
  checkEngine(options);
  return new LocalEngine(options);
};

class LocalEngine implements Engine {
  readonly #queue: Queue;
  readonly #prefixCache = new PrefixCache();
  readonly #closing = new AbortController();
  readonly #device: EngineDevice;
  readonly #registry: ModelRegistry;
  readonly #systems: readonly DecodingSystem[];
  #cache: CachePrecision = 'f32';
  readonly #constraints = new ConstraintCompiler();
  /** By system and settings: the rounds of one cost other times than those of another. */
  readonly #timings = new Map<string, Timings>();

  constructor({ gpu = openBrowserGpu, base, systems = SYSTEMS, whenIdle = false }: EngineOptions) {
    this.#device = new EngineDevice(gpu);
    this.#queue = new Queue(whenIdle ? new Idle(async (still) => this.#device.current?.compileRest(still)) : null);
    this.#registry = new ModelRegistry(() => this.#device.use(), base);
    this.#systems = systems;
  }

  async systems(): Promise<readonly SystemFacts[]> {
    return this.#systems.map((system) => describeSystem(system));
  }

  async load(models: ModelSources, given: LoadOptions = {}): Promise<Loaded> {
    checkLoad(models, given);
    const sources = withBuiltIn(models);
    const { cache = 'f32', ...options } = given;
    const signal = this.#untilClosed(options.signal);
    using ticket = this.#queue.join();
    while (ticket.ahead > 0 && !signal.aborted) await ticket.moved(ticket.ahead, signal);
    checkAborted(signal);
    this.#forget();
    this.#device.forgetLosses();
    await this.#registry.load(sources, { ...options, cache, signal });
    this.#cache = cache;
    return this.#describe();
  }

  run(request: RunRequest, signal?: AbortSignal): AsyncGenerator<TraceEvent, void, undefined> {
    return this.#run(request, signal, (file, until) => this.#registry.models.draft?.sidecar?.read(file, until));
  }

  async *#run(
    request: RunRequest,
    signal: AbortSignal | undefined,
    sidecar: ReadSidecar,
  ): AsyncGenerator<TraceEvent, void, undefined> {
    const asked = performance.now();
    const clock = (): number => performance.now() - asked;
    const stop = this.#untilClosed(signal);
    using ticket = this.#queue.join();
    let events: AsyncGenerator<TraceEvent, void, undefined> | null = null;
    // Those that come after the signal wait until the line is free: the caller may not come back for them.
    const late: TraceEvent[] = [];
    let waiting = false;
    let left: Promise<void> | null = null;
    const finish = async (): Promise<void> => {
      try {
        for await (const event of events ?? []) late.push(event);
      } finally {
        ticket[Symbol.dispose]();
      }
    };
    // A caller that stopped and does not come back for the next event must not keep others waiting: the run ends without
    // it.
    const leave = (): void => {
      if (!waiting) return;
      left = finish();
      left.catch(() => {}); // a caller that comes back hears of it
    };
    stop.addEventListener('abort', leave);
    try {
      while (ticket.ahead > 0 && !stop.aborted) {
        const { ahead } = ticket;
        waiting = true;
        yield { at: clock(), type: 'queued', ahead };
        waiting = false;
        await ticket.moved(ahead, stop);
      }
      if (!stop.aborted) {
        events = this.#generate(request, sidecar, clock, stop);
        for await (const event of events) {
          if (stop.aborted || event.type === 'done') {
            late.push(event);
            continue;
          }
          waiting = true;
          yield event;
          waiting = false;
          await left;
        }
      }
    } finally {
      stop.removeEventListener('abort', leave);
    }
    ticket[Symbol.dispose](); // nor must one that does not come back after the end
    yield* late;
    if (late.at(-1)?.type === 'done') return;
    yield { at: clock(), type: 'done', finish_reason: 'aborted', stop: null, text: null };
  }

  async calibrate(options: CalibrateOptions): Promise<Calibrated> {
    return calibrate(
      (request, signal) => this.#run(request, signal, () => null), // what was measured before may be damaged
      () => ({ draft: this.#registry.models.draft, sources: this.#registry.sources }),
      options,
    );
  }

  async measure(options: MeasureOptions = {}): Promise<DeviceCard> {
    const signal = this.#untilClosed(options.signal);
    using ticket = this.#queue.join();
    while (ticket.ahead > 0 && !signal.aborted) await ticket.moved(ticket.ahead, signal);
    checkAborted(signal);
    const gpu = await this.#device.use();
    if (!(await this.#restoreModels(signal))) checkAborted(signal);
    return measureCard(gpu, this.#registry.models.target, { ...options, signal });
  }

  async preflight(models: ModelSources, options: PreflightOptions = {}): Promise<Preflight> {
    checkPreflight(models, options);
    const sources = withBuiltIn(models);
    const signal = this.#untilClosed(options.signal);
    checkAborted(signal);
    return preflight(sources, { ...options, signal }, { gpu: await this.#device.use(), registry: this.#registry });
  }

  async storedModels(): Promise<readonly StoredModel[]> {
    return (await this.#registry.openStore()).list();
  }

  async deleteStored(name: string): Promise<void> {
    await (await this.#registry.openStore()).delete(name);
  }

  async close(): Promise<void> {
    this.#closing.abort(new OutriderError('aborted', 'the engine is closed', 'Create another one.'));
    using ticket = this.#queue.join();
    while (ticket.ahead > 0) await ticket.moved(ticket.ahead, new AbortController().signal);
    this.#forget();
    this.#constraints[Symbol.dispose]();
    this.#registry.clear();
    this.#device.destroy();
  }

  /** An answer, on as many devices as it takes: when one is lost, the next goes on where it ended. */
  async *#generate(
    request: RunRequest,
    sidecar: ReadSidecar,
    clock: () => number,
    signal: AbortSignal,
  ): AsyncGenerator<TraceEvent, void, undefined> {
    if (!(await this.#restoreModels(signal))) return;
    const asked = takeRequest(request); // read again after a loss
    let job = readRequest(asked, this.#registry.models, this.#systems);
    if (job.profile && this.#device.current) Profile.check(this.#device.current);
    const { system, knobs, prompt, sampling, format } = job;
    const answer = new Answer(job, clock);
    const { escalates, threshold } = system;
    const rule = escalates && threshold ? { escalates, threshold } : null;
    const began = clock();
    if (job.constraint && !(await arrives(loadXGrammar(), signal))) return;
    using constrained = await ConstrainedRun.open(job, this.#constraints); // a refused one has no event before
    const compiled = clock() - began;
    yield {
      at: clock(),
      type: 'run',
      version: 1,
      system: system.id,
      ...rule,
      knobs,
      seed: sampling.seed,
      prompt,
      ...(format && { format }),
    };
    if (job.fresh) this.#prefixCache.unread();
    if (constrained) yield { at: clock(), ...constrained.opened(compiled) };
    let scored = job.promptLogprobs === null;
    while (!signal.aborted) {
      const gpu = this.#device.current;
      try {
        if (!scored) yield await this.#scorePrompt(job, answer, clock, signal);
        scored = true;
        const over = answer.transcript.ending !== null || signal.aborted;
        if (!over) yield* this.#rounds(job, sidecar, answer, constrained, clock, signal);
        break;
      } catch (error) {
        this.#prefixCache.clear(); // what an interrupted round left in the caches is unknown
        if (signal.aborted) break;
        yield* answer.interrupted();
        if (answer.transcript.ending) break;
        const loss = await this.#device.failure(gpu);
        if (!loss) throw error;
        this.#device.countLoss(loss);
        const { round } = answer;
        yield { at: clock(), type: 'device-lost', round, fault: toFault(loss) };
        const began = clock();
        if (!(await this.#restoreModels(signal))) break;
        const again = { ...asked, seed: sampling.seed };
        job = readRequest(again, this.#registry.models, this.#systems);
        yield { at: clock(), type: 'recovered', round, ms: clock() - began };
      }
    }
    yield* answer.end(constrained?.outcome(answer.tokens));
  }

  async #scorePrompt(
    { models, prompt, promptLogprobs, tokenizer }: Job,
    { transcript }: Answer,
    clock: () => number,
    signal: AbortSignal,
  ): Promise<TraceEvent> {
    const began = clock();
    const named = <T extends { readonly token: number }>(each: T) => ({ ...each, text: transcript.textOf(each.token) });
    const scores = await scorePrompt(models.target, prompt, promptLogprobs ?? 0, { cache: this.#cache, signal });
    const tokens = scores.map(({ top, ...score }) => ({ ...named(score), top: top.map(named) }));
    const text = tokenizer?.decode(prompt, { special: true }) ?? null;
    return { at: clock(), type: 'prompt', text, tokens, ms: clock() - began };
  }

  /** The round loop: every system, from plain decoding to step routing, repeats "commit at least one token". */
  async *#rounds(
    job: Job,
    sidecar: ReadSidecar,
    answer: Answer,
    constrained: ConstrainedRun | null,
    clock: () => number,
    signal: AbortSignal,
  ): AsyncGenerator<TraceEvent, void, undefined> {
    const { system, models, knobs, sampling, logprobs, tokenizer } = job;
    const gpu = this.#device.current;
    const work = gpu && meter(gpu);
    const { tokens, rows, emit } = answer.begin(job);
    const sequence: Sequence = {
      tokens,
      get budget() {
        return rows - tokens.length;
      },
      sampling,
      // Kept with probability p/q, drafts need noise of their own; kept as the target's own draws, they share its noise.
      drafting: constrained ? sampling : draftSampling(sampling),
      constraint: constrained?.text ?? null,
      promptLength: job.prompt.length,
      alternatives: logprobs,
    };
    const open: RunContext['open'] = async (role, options) => {
      const cursor = await this.#prefixCache.open(role, models, [...tokens], rows, { ...options, cache: this.#cache });
      const { rules } = job;
      const prompt = job.prompt.length;
      if ('ask' in cursor) cursor.ask?.(job.question);
      if ('adjust' in cursor) await cursor.adjust(rules && { rules, prompt, tokens: () => tokens });
      if (role !== 'target' || !constrained) return cursor;
      return constrainedCursor(cursor as Cursor, constrained.text, () =>
        tokens.slice(job.prompt.length),
      ) as typeof cursor;
    };
    // Rounds are slower while their kernels are timed, so other runs must not use their times.
    const way = `${system.id} ${JSON.stringify(knobs)}`;
    const timings = (!job.profile && this.#timings.get(way)) || new Timings();
    if (!job.profile) this.#timings.set(way, timings);
    const profile = job.profile && gpu ? await Profile.start(gpu) : null;
    let began = clock();
    try {
      const { first, round: next } = await system.start({
        models,
        sequence,
        knobs,
        emit,
        signal,
        timings,
        software: gpu?.software ?? true,
        fresh: job.fresh,
        document: job.document,
        tokenText: tokenizer && ((token) => answer.transcript.textOf(token) ?? ''),
        retokenise: tokenizer && ((before, text) => retokenise(before, text, tokenizer)),
        stopTokens: job.limits.stopTokens,
        sidecar: async (file) => (await sidecar(file, signal)) ?? null,
        open,
        join: (members, combination, options) => this.#prefixCache.join(members, models, combination, options),
      });
      answer.started();
      let unread = first;
      if (!first && answer.round === 0) answer.round = 1;
      while (!answer.transcript.ending && !signal.aborted) {
        const ending = unread ? null : await constrained?.ending(answer.tokens);
        const commit = unread ?? ending ?? (await next({ sequence, round: answer.round, emit, signal }));
        unread = null;
        if (answer.take(commit, began) && work) {
          const { readbackBytes, ...counts } = work();
          emit({
            type: 'kernels',
            round: answer.round,
            ...counts,
            readback_bytes: readbackBytes,
            spans: (await profile?.take()) ?? [],
          });
        }
        answer.round++;
        yield* answer.told();
        began = clock();
      }
    } finally {
      profile?.stop();
      this.#prefixCache.keep(tokens);
    }
  }

  /** Models that were lost with their device are loaded again, on a new one. False: the signal came first. */
  async #restoreModels(signal: AbortSignal): Promise<boolean> {
    if (!this.#registry.lost) return true;
    if (signal.aborted) return false;
    this.#forget();
    try {
      await this.#registry.reload(signal);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }

  #untilClosed(signal: AbortSignal | undefined): AbortSignal {
    checkSignal(signal);
    const closed = this.#closing.signal;
    return signal ? AbortSignal.any([signal, closed]) : closed;
  }

  /** Forgets what was learned about models that the next load may free, and frees what their runs have taken. */
  #forget(): void {
    this.#prefixCache.clear();
    this.#timings.clear();
    this.#device.current?.staging.trim();
  }

  #describe(): Loaded {
    const loaded = this.#registry.models;
    // These read no text of a run, or are known by name only: no ModelInfo describes them.
    const { policy: _, remote: __, textTarget: ___, sentences, ...readers } = loaded;
    const notices = [this.#registry.store, loaded.remote, loaded.prm, loaded.router, sentences].flatMap(
      (each) => each?.notice ?? [],
    );
    const gpu = this.#device.current;
    const adapter = gpu && {
      vendor: gpu.info.vendor,
      architecture: gpu.info.architecture,
      description: gpu.info.description,
      software: gpu.software,
    };
    return {
      adapter: adapter ?? null,
      systems: this.#systems.flatMap((system) => {
        const served = modelsFor(system, loaded);
        const models = modelsOf(served);
        const missing = missingRoles(system, (role) => served[role] !== undefined);
        return models && missing.length === 0 ? [describeSystem(system, models)] : [];
      }),
      models: Object.fromEntries(
        Object.entries(readers).flatMap(([role, loaded]) => (loaded ? [[role, describeModel(loaded)]] : [])),
      ),
      notice: notices.join(' ') || null,
    };
  }
}

/** False: the signal came first, and the work goes on by itself. */
const arrives = async (work: Promise<unknown>, signal: AbortSignal): Promise<boolean> => {
  try {
    await unlessAborted(work, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
};

const describeModel = ({ name, model, ...loaded }: LoadedModel | LoadedDrafter | LoadedJudge): ModelInfo => {
  const { family, context, bytes } = model;
  const tokenizer = 'tokenizer' in loaded ? loaded.tokenizer : null;
  const text = tokenizer ? (tokenizer.hasChatTemplate ? 'chat' : 'raw') : 'none';
  const own = 'vocabulary' in model ? { vocabulary: model.vocabulary, batchInvariant: model.batchInvariant } : null;
  const mtp = 'mtp' in loaded && loaded.mtp ? ({ mtp: true } as const) : null;
  const times = 'times' in loaded && loaded.times ? { times: loaded.times } : null;
  return { name, family, context, bytes, text, ...own, ...mtp, ...times };
};
