// Every system on the same prompts in one session, interleaved, against its baseline (plain decoding, or for an ensemble
// the plain ensemble): on a machine whose clock and load drift, only runs that were made next to each other may be
// compared. The first runs warm up and are not counted.

import type { KnobValue } from '../decode/knobs.ts';
import type { DecodingSystem } from '../decode/system.ts';
import { createEngine, type Engine } from '../engine.ts';
import { OutriderError } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';
import type { LoadedModel, LoadedModels } from '../load.ts';
import autoregressive from '../systems/autoregressive.ts';
import { SYSTEMS } from '../systems/index.ts';
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
  /** Plain decoding is always run, and so are the baselines of these. */
  readonly systems: readonly BenchEntry[];
  /** Default 0. */
  readonly temperature?: number;
  /** Of the first run; the runs that are compared have the same. */
  readonly seed?: number;
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
  readonly temperature: number;
  readonly seed: number;
}

const PLAIN: BenchEntry = { name: autoregressive.id, system: autoregressive, knobs: {} };

/** What a system is held against: with its settings, as far as the baseline has them. */
export const baselineOf = ({ system, knobs }: Omit<BenchEntry, 'name'>): BenchEntry => {
  const baseline = SYSTEMS.find(({ id }) => id === system.baseline);
  if (!baseline) return PLAIN;
  const shared = Object.entries(knobs).filter(([name]) => Object.hasOwn(baseline.knobs, name));
  const name = [baseline.id, ...shared.map(([knob, value]) => `${knob}=${[value].flat().join('/')}`)].join(':');
  return { name, system: baseline, knobs: Object.fromEntries(shared) };
};

const sameRuns = (a: BenchEntry, b: BenchEntry): boolean =>
  a.system.id === b.system.id &&
  Object.keys({ ...a.knobs, ...b.knobs }).every((name) => `${a.knobs[name]}` === `${b.knobs[name]}`);

/** Each once, every baseline before what is held against it. */
const withBaselines = (systems: readonly BenchEntry[]): readonly BenchEntry[] => {
  const all: BenchEntry[] = [PLAIN];
  for (const entry of systems)
    for (const each of [baselineOf(entry), entry])
      if (!all.some((there) => sameRuns(there, each))) all.push(sameRuns(each, entry) ? entry : each);
  return all;
};
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
  const { maxTokens, repeat, signal, onProgress, temperature = 0, seed = 0 } = options;
  const { target } = models;
  const prompts = options.prompts ?? defaultPrompts(target);
  // Answers that are judged end where the model ends them; where only speed counts, every run is as long.
  const ignoreEos = prompts.every(({ result }) => result === null);
  const entries = withBaselines(options.systems);
  const engine = createEngine({ gpu });
  await engine.load(models);

  onProgress('measuring the device');
  const device = await describe(gpu);
  onProgress('timing passes of 1 to 16 rows');
  const cost = await verifyCost(target.model, TIMINGS, signal);
  onProgress('timing prompts');
  const prefill = await measurePrefill(engine, target, signal);

  const samples = new Map(entries.map(({ name }) => [name, [] as Sample[]]));
  const ask = ({ system, knobs }: BenchEntry, index: number, repetition = 0) => {
    const prompt = fitted((prompts[index] as BenchPrompt).prompt, target);
    const drawn = { temperature, seed: seed + repetition * prompts.length + index };
    return engine.run({ prompt, system: system.id, knobs, maxTokens, ignoreEos, ...drawn }, signal);
  };
  const runOne = async (entry: BenchEntry, index: number, repetition: number): Promise<Sample> => {
    gpu.peakBytes = gpu.bytes;
    const events = await collect(ask(entry, index, repetition));
    const done = events.at(-1);
    const text = done?.type === 'done' ? done.text : null;
    return {
      key: `${repetition}/${index}`,
      prompt: index,
      events,
      right: isRight(prompts[index] as BenchPrompt, text),
      answer: prompts[index]?.answer,
      peakBytes: gpu.peakBytes,
    };
  };
  for (const entry of entries) await runOne(entry, 0, 0);
  for (let repetition = 0; repetition < repeat; repetition++) {
    for (let index = 0; index < prompts.length; index++) {
      onProgress(`run ${repetition * prompts.length + index + 1} of ${repeat * prompts.length}`);
      // Each prompt starts with another system, so that none always has the warmest caches.
      for (let i = 0; i < entries.length; i++) {
        const entry = entries[(i + index + repetition) % entries.length] as BenchEntry;
        samples.get(entry.name)?.push(await runOne(entry, index, repetition));
      }
    }
  }
  const profiles: ProfileReport[] = [];
  if (options.profile)
    for (const entry of entries) profiles.push({ system: entry.name, ...(await profileRounds(gpu, ask(entry, 0))) });
  await engine.close();

  const bytes = Object.fromEntries(
    Object.entries(models).map(([role, there]) => [role, there && 'bytes' in there.model ? there.model.bytes : 0]),
  );
  const ceiling = { bytes, bandwidth: device.bandwidth_gb_per_second * 1e9 };
  const reports = entries.map((entry) => {
    const { name, system } = entry;
    const baseline = entries.find((other) => sameRuns(other, baselineOf(entry))) ?? PLAIN;
    const equal = system.guarantee === 'exact' && temperature === 0;
    const against = { name: baseline.name, samples: samples.get(baseline.name) ?? [] };
    return summarise({ id: name, equal }, samples.get(name) ?? [], against, ceiling);
  });
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
    temperature,
    seed,
  };
};
