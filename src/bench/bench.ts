// Every system on the same prompts in one session, interleaved, against plain decoding: on a machine whose clock and load
// drift, only runs that were made next to each other may be compared. The first runs warm up and are not counted.
import { createEngine, type Engine } from '../engine.ts';
import { OutriderError } from '../errors.ts';
import type { Gpu } from '../gpu/device.ts';

import type { LoadedModel } from '../load.ts';
import { SYSTEMS } from '../systems/index.ts';
import { measure, type TraceEvent } from '../trace.ts';
import { type DeviceSpeed, measureDevice } from './device-speed.ts';
import { type BenchPrompt, defaultPrompts, fitted, isRight, someTokens } from './prompts.ts';
import { type Spread, spread } from './statistics.ts';
import { type Sample, type SystemReport, summarise } from './summary.ts';
import { verifyCost } from './verify-cost.ts';

export interface BenchOptions {
  /** Null: a few that suit the model. */
  readonly prompts: readonly BenchPrompt[] | null;
  /** Plain decoding is always run; the others are named here. */
  readonly systems: readonly string[];
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
  readonly prompts: number;
  readonly repeat: number;
}

const PLAIN = 'autoregressive';
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

const chosen = (names: readonly string[]) => {
  const wanted = new Set([PLAIN, ...names]);
  const systems = SYSTEMS.filter(({ id }) => wanted.delete(id));
  const [unknown] = wanted;
  if (unknown === undefined) return systems;
  const known = SYSTEMS.map(({ id }) => id).join(', ');
  throw new OutriderError('bad-request', `there is no system "${unknown}"`, `Systems: ${known}.`);
};

export const bench = async (gpu: Gpu, target: LoadedModel, options: BenchOptions): Promise<BenchReport> => {
  const { maxTokens, repeat, signal, onProgress } = options;
  const prompts = options.prompts ?? defaultPrompts(target);
  // Answers that are judged end where the model ends them; where only speed counts, every run is as long.
  const ignoreEos = prompts.every(({ result }) => result === null);
  const systems = chosen(options.systems);
  const engine = createEngine({ gpu });
  await engine.load({ target });

  onProgress('measuring the device');
  const device = await describe(gpu);
  onProgress('timing passes of 1 to 16 rows');
  const cost = await verifyCost(target.model, TIMINGS, signal);
  onProgress('timing prompts');
  const prefill = await measurePrefill(engine, target, signal);

  const samples = new Map(systems.map(({ id }) => [id, [] as Sample[]]));
  const runOne = async (system: string, index: number, key: string): Promise<Sample> => {
    const entry = prompts[index] as BenchPrompt;
    gpu.peakBytes = gpu.bytes;
    const events = await collect(
      engine.run({ prompt: fitted(entry.prompt, target), system, maxTokens, ignoreEos }, signal),
    );
    const done = events.at(-1);
    const text = done?.type === 'done' ? done.text : null;
    return { key, prompt: index, events, right: isRight(entry, text), peakBytes: gpu.peakBytes };
  };
  for (const { id } of systems) await runOne(id, 0, 'warm-up');
  for (let repetition = 0; repetition < repeat; repetition++) {
    for (let index = 0; index < prompts.length; index++) {
      onProgress(`run ${repetition * prompts.length + index + 1} of ${repeat * prompts.length}`);
      // Each prompt starts with another system, so that none always has the warmest caches.
      for (let i = 0; i < systems.length; i++) {
        const { id } = systems[(i + index + repetition) % systems.length] as (typeof systems)[number];
        samples.get(id)?.push(await runOne(id, index, `${repetition}/${index}`));
      }
    }
  }
  await engine.close();

  const plain = samples.get(PLAIN) ?? [];
  const ceiling = { bytes: target.model.bytes, bandwidth: device.bandwidth_gb_per_second * 1e9 };
  const reports = systems.map((system) => summarise(system, samples.get(system.id) ?? [], plain, ceiling));
  return {
    device,
    model: { name: target.name, family: target.model.family, bytes: target.model.bytes },
    verify_cost: cost.relative,
    verify_ms: cost.milliseconds,
    decode_tokens_per_second: reports.find(({ system }) => system === PLAIN)?.tokens_per_second ?? null,
    prefill,
    systems: reports,
    prompts: prompts.length,
    repeat,
  };
};
