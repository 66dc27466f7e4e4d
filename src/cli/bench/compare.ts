// Runs every system on the same prompts in one session, interleaved with its baseline: plain decoding, or for an
// ensemble the plain ensemble. A machine's clock and load drift, so runs are compared prompt by prompt, and each prompt
// has an order of its own. The first runs warm up and do not count.
import { OutriderError } from '../../base/errors.ts';
import { refuse } from '../../base/refuse.ts';
import { type Spread, shuffled, spread } from '../../base/statistics.ts';
import { type DeviceCard, measureCard } from '../../engine/device-card.ts';
import { createEngine, type Engine } from '../../engine/engine.ts';
import { type LoadedModel, type LoadedModels, readerOf } from '../../engine/load/loaded-models.ts';
import { someTokens } from '../../engine/verify-cost.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { CachePrecision } from '../../model/interface.ts';
import { measure, type TraceEvent } from '../../trace/index.ts';
import { begunRun } from '../begun-run.ts';
import type { Written } from '../request-options.ts';
import { stepReaderOf } from '../step-reader.ts';
import { type BenchEntry, baselineOf, PLAIN, sameRuns, withBaselines } from './entries.ts';
import { type ProfiledRounds, profileRounds } from './profile-rounds.ts';
import { type BenchPrompt, chosenPrompts, defaultPrompts, fitted, isRight } from './prompts.ts';
import { isCutOff, isJudged, type Sample, type SystemReport, summarise } from './summary.ts';

export interface BenchOptions {
  /** Null: a few that suit the model. */
  readonly prompts: readonly BenchPrompt[] | null;
  /** Leaves out this many prompts at the start. Default 0. */
  readonly offset?: number | undefined;
  /** The most prompts after them. Default: all. */
  readonly limit?: number | undefined;
  /** Plain decoding is always run, and so are the baselines of these. */
  readonly systems: readonly BenchEntry[];
  /** One of them: every other one is also compared with it. */
  readonly against?: string | undefined;
  /** Default 0. */
  readonly temperature?: number;
  /** Of the first run; the runs that are compared have the same. */
  readonly seed?: number;
  /** What every run is asked for: how tokens are drawn, a constraint, a document to quote. */
  readonly written?: Written;
  /** How keys and values are kept. Default: f32. */
  readonly cache?: CachePrecision;
  /** Answers end where the model ends them; otherwise they do only where they are judged or constrained. */
  readonly stopAtEnd?: boolean;
  /** Times every kernel too, in runs of their own. */
  readonly profile: boolean;
  readonly maxTokens: number;
  readonly repeat: number;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
  /** What a reader of the report must know besides it. */
  readonly onNote: (line: string) => void;
}

export interface ProfileReport extends ProfiledRounds {
  readonly system: string;
}

/** Names as `outrider bench --json` prints them. */
export interface BenchReport {
  readonly device: Omit<DeviceCard, 'passes'>;
  readonly model: { readonly name: string; readonly family: string; readonly bytes: number };
  /** A target on another machine, as its server calls it; then `model` is the draft, and so is plain decoding's. */
  readonly remote?: string;
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
  readonly cache: CachePrecision;
}

/** Prompts timed for the prefill. */
const TIMINGS = 5;
const PREFILL_TOKENS = 256;

const collect = async (events: AsyncIterable<TraceEvent>): Promise<TraceEvent[]> => {
  const all: TraceEvent[] = [];
  for await (const event of begunRun(events)) all.push(event);
  if (all.at(-1)?.type !== 'done' || (all.at(-1) as { finish_reason?: string }).finish_reason === 'aborted')
    throw new OutriderError('aborted', 'aborted by the caller');
  return all;
};

const measurePrefill = async (engine: Engine, { model }: LoadedModel, signal: AbortSignal) => {
  const tokens = Math.min(PREFILL_TOKENS, model.context - 1);
  const rates: number[] = [];
  for (let i = -1; i < TIMINGS; i++) {
    // Another prompt each time, so that the cache of the last one does not help.
    const prompt = { tokens: someTokens(model.vocabulary, tokens, i + 2) };
    const { prefill_ms } = measure(await collect(engine.run({ prompt, maxTokens: 1 }, signal)));
    if (i >= 0) rates.push((1000 * tokens) / prefill_ms);
  }
  return { tokens, tokens_per_second: spread(rates) };
};

/** All that is run. Throws where --against names none of it. */
export const entriesOf = ({ systems, against }: Pick<BenchOptions, 'systems' | 'against'>): readonly BenchEntry[] => {
  const entries = withBaselines(systems);
  if (against === undefined || entries.some(({ name }) => name === against)) return entries;
  throw refuse(`${against} is not among the systems`, `Name one of ${entries.map(({ name }) => name).join(', ')}.`);
};

export const bench = async (gpu: Gpu, models: LoadedModels, options: BenchOptions): Promise<BenchReport> => {
  const { maxTokens, repeat, signal, onProgress, temperature = 0, seed = 0, written = {}, cache = 'f32' } = options;
  const { stopAtEnd = false } = options;
  // Only the steps of a target on another machine are known here, so the draft is measured instead of it.
  const target = readerOf(models);
  if (!target) throw refuse('there is no model to measure', 'Load a target, or a draft for a remote target.');
  const prompts = chosenPrompts(options.prompts ?? defaultPrompts(target), options);
  // Where only speed counts, every run is as long.
  const ignoreEos = !stopAtEnd && !written.constraint && prompts.every(({ result }) => result === null);
  const entries = entriesOf(options);
  const engine = createEngine({ gpu });
  const loaded = { ...models, target };
  const stepReader = stepReaderOf(loaded) ?? target;
  await engine.load(loaded, { cache, vocabularies: 'own' });

  const { passes, ...device } = await measureCard(gpu, target, {
    signal,
    onProgress: (what) => onProgress(what === 'device' ? 'measuring the device' : 'timing passes of 1 to 16 rows'),
  });
  onProgress('timing prompts');
  const prefill = await measurePrefill(engine, target, signal);

  const samples = new Map(entries.map(({ name }) => [name, [] as Sample[]]));
  const ask = ({ system, knobs }: BenchEntry, index: number, repetition = 0) => {
    const prompt = fitted((prompts[index] as BenchPrompt).prompt, system.remote ? stepReader : target);
    const drawn = { temperature, seed: seed + repetition * prompts.length + index };
    const asked = { ...written, prompt, system: system.id, knobs, maxTokens, ignoreEos, ...drawn };
    return engine.run({ ...asked, fresh: true }, signal);
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
      // In an order of its own, so that no system always follows the same one.
      for (const i of shuffled(entries.length, 1 + repetition * prompts.length + index)) {
        const entry = entries[i] as BenchEntry;
        samples.get(entry.name)?.push(await runOne(entry, index, repetition));
      }
    }
  }
  const profiles: ProfileReport[] = [];
  if (options.profile)
    for (const entry of entries) profiles.push({ system: entry.name, ...(await profileRounds(gpu, ask(entry, 0))) });
  await engine.close();

  const judged = [...samples.values()].flat().filter(isJudged);
  const cut = judged.filter(isCutOff).length;
  if (cut > 0) options.onNote(`${cut} of ${judged.length} answers were cut off by --max-tokens`);

  const bytes = Object.fromEntries(
    Object.entries(loaded).map(([role, there]) => [
      role,
      there && 'model' in there && 'bytes' in there.model ? there.model.bytes : 0,
    ]),
  );
  const ceiling = { bytes, bandwidth: device.bandwidth_gb_per_second * 1e9 };
  const reference =
    options.against === undefined ? undefined : { name: options.against, samples: samples.get(options.against) ?? [] };
  const reports = entries.map((entry) => {
    const { name, system } = entry;
    const baseline = entries.find((other) => sameRuns(other, baselineOf(entry))) ?? PLAIN;
    const equal = system.guarantee === 'exact' && temperature === 0;
    const against = { name: baseline.name, samples: samples.get(baseline.name) ?? [] };
    const mine = samples.get(name) ?? [];
    return summarise({ id: name, equal }, mine, against, ceiling, name === reference?.name ? undefined : reference);
  });
  return {
    device,
    model: { name: target.name, family: target.model.family, bytes: target.model.bytes },
    ...(models.remote && { remote: models.remote.name }),
    verify_cost: passes?.relative ?? {},
    verify_ms: passes?.milliseconds ?? {},
    decode_tokens_per_second: reports.find(({ system }) => system === PLAIN.name)?.tokens_per_second ?? null,
    prefill,
    systems: reports,
    ...(options.profile && { profiles }),
    prompts: prompts.length,
    repeat,
    temperature,
    seed,
    cache,
  };
};
