// Every system on the same prompts in one session, interleaved, against plain decoding: on a machine whose clock and load
// drift, only runs that were made next to each other may be compared. The first runs warm up and are not counted.

import type { KnobValue } from '../decode/knobs.ts';
import type { DecodingSystem } from '../decode/system.ts';
import { createEngine, type Engine } from '../engine.ts';
import { OutriderError } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { LoadedModel, LoadedModels } from '../load.ts';
import autoregressive from '../systems/autoregressive.ts';
import { measure, type TraceEvent } from '../trace.ts';
import { type DeviceSpeed, measureDevice } from './device-speed.ts';
import { type ProfiledRounds, profileRounds } from './profile-rounds.ts';
import { type BenchPrompt, defaultPrompts, fitted, isRight, someTokens } from './prompts.ts';
import { type Spread, spread } from './statistics.ts';
import { type Sample, type SystemReport, summarise } from './summary.ts';
import { verifyCost } from './verify-cost.ts';

/** A system with settings; one system may be there several times. */
export interface BenchEntry {
  readonly name: string;
  readonly system: DecodingSystem;
  readonly knobs: Readonly<Record<string, KnobValue>>;
}

export interface BenchOptions {
  /** Null: a few that suit the model. */
  readonly prompts: readonly BenchPrompt[] | null;
  /** Plain decoding is always run; these beside it. */
  readonly systems: readonly BenchEntry[];
  /** Times every kernel too, in runs of their own. */
  readonly profile: boolean;
  readonly maxTokens: number;
  readonly repeat: number;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

export interface DeviceReport extends DeviceSpeed {
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
  readonly software: boolean;
  readonly features: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
}

export interface ProfileReport extends ProfiledRounds {
  readonly system: string;
}

/** Names as `outrider bench --json` prints them. */
export interface BenchReport {
  readonly device: DeviceReport;
  readonly model: { readonly name: string; readonly family: string; readonly bytes: number };
  /** T(M)/T(1). */
  readonly verify_cost: Readonly<Record<string, number>>;
  readonly verify_ms: Readonly<Record<string, number>>;
  /** Plain decoding. */
  readonly decode_tokens_per_second: Spread | null;
  readonly prefill: { readonly tokens: number; readonly tokens_per_second: Spread | null };
  readonly systems: readonly SystemReport[];
  readonly profiles?: readonly ProfileReport[];
  readonly prompts: number;
  readonly repeat: number;
}

const PLAIN: BenchEntry = { name: autoregressive.id, system: autoregressive, knobs: {} };
const LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
] as const;
/** Passes timed for each M, and prompts timed for the prefill. */
const TIMINGS = 5;
const PREFILL_TOKENS = 256;

const describe = async (gpu: Gpu): Promise<DeviceReport> => ({
  vendor: gpu.info.vendor,
  architecture: gpu.info.architecture,
  description: gpu.info.description || gpu.info.device,
  software: gpu.software,
  features: [...gpu.device.features].sort(),
  limits: Object.fromEntries(LIMITS.map((name) => [name, gpu.device.limits[name]])),
  ...(await measureDevice(gpu)),
});

const collect = async (events: AsyncIterable<TraceEvent>): Promise<TraceEvent[]> => {
  const all: TraceEvent[] = [];
  for await (const event of events) all.push(event);
  if (all.at(-1)?.type !== 'done' || (all.at(-1) as { finish_reason?: string }).finish_reason === 'aborted')
    throw new OutriderError('aborted', 'aborted by the caller');
  return all;
};

const measurePrefill = async (engine: Engine, { model }: LoadedModel, signal: AbortSignal) => {
  const tokens = Math.min(PREFILL_TOKENS, model.context - 1);
  const rates: number[] = [];
  for (let i = -1; i < TIMINGS; i++) {
    // Another prompt each time: the cache of the one before must not help.
    const prompt = { tokens: someTokens(model.vocabulary, tokens, i + 2) };
    const { prefill_ms } = measure(await collect(engine.run({ prompt, maxTokens: 1 }, signal)));
    if (i >= 0) rates.push((1000 * tokens) / prefill_ms);
  }
  return { tokens, tokens_per_second: spread(rates) };
};

export const bench = async (
  gpu: Gpu,
  models: LoadedModels & { readonly target: LoadedModel },
  options: BenchOptions,
): Promise<BenchReport> => {
  const { maxTokens, repeat, signal, onProgress } = options;
  const { target } = models;
  const prompts = options.prompts ?? defaultPrompts(target);
  // Answers that are judged end where the model ends them; where only speed counts, every run is as long.
  const ignoreEos = prompts.every(({ result }) => result === null);
  const entries = [PLAIN, ...options.systems.filter(({ name }) => name !== PLAIN.name)];
  const engine = createEngine({ gpu });
  await engine.load(models);

  onProgress('measuring the device');
  const device = await describe(gpu);
  onProgress('timing passes of 1 to 16 rows');
  const cost = await verifyCost(target.model, TIMINGS, signal);
  onProgress('timing prompts');
  const prefill = await measurePrefill(engine, target, signal);

  const samples = new Map(entries.map(({ name }) => [name, [] as Sample[]]));
  const ask = ({ system, knobs }: BenchEntry, index: number) => {
    const { prompt } = prompts[index] as BenchPrompt;
    return engine.run({ prompt: fitted(prompt, target), system: system.id, knobs, maxTokens, ignoreEos }, signal);
  };
  const runOne = async (entry: BenchEntry, index: number, key: string): Promise<Sample> => {
    gpu.peakBytes = gpu.bytes;
    const events = await collect(ask(entry, index));
    const done = events.at(-1);
    const text = done?.type === 'done' ? done.text : null;
    return {
      key,
      prompt: index,
      events,
      right: isRight(prompts[index] as BenchPrompt, text),
      peakBytes: gpu.peakBytes,
    };
  };
  for (const entry of entries) await runOne(entry, 0, 'warm-up');
  for (let repetition = 0; repetition < repeat; repetition++) {
    for (let index = 0; index < prompts.length; index++) {
      onProgress(`run ${repetition * prompts.length + index + 1} of ${repeat * prompts.length}`);
      // Each prompt starts with another system, so that none always has the warmest caches.
      for (let i = 0; i < entries.length; i++) {
        const entry = entries[(i + index + repetition) % entries.length] as BenchEntry;
        samples.get(entry.name)?.push(await runOne(entry, index, `${repetition}/${index}`));
      }
    }
  }
  const profiles: ProfileReport[] = [];
  if (options.profile)
    for (const entry of entries) profiles.push({ system: entry.name, ...(await profileRounds(gpu, ask(entry, 0))) });
  await engine.close();

  const plain = samples.get(PLAIN.name) ?? [];
  const ceiling = { bytes: target.model.bytes, bandwidth: device.bandwidth_gb_per_second * 1e9 };
  const reports = entries.map(({ name, system: { guarantee } }) =>
    summarise({ id: name, guarantee }, samples.get(name) ?? [], plain, ceiling),
  );
  return {
    device,
    model: { name: target.name, family: target.model.family, bytes: target.model.bytes },
    verify_cost: cost.relative,
    verify_ms: cost.milliseconds,
    decode_tokens_per_second: reports.find(({ system }) => system === PLAIN.name)?.tokens_per_second ?? null,
    prefill,
    systems: reports,
    ...(options.profile && { profiles }),
    prompts: prompts.length,
    repeat,
  };
};
