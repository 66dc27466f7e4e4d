// The promise of exact systems on real models and a real adapter: engines with the bundled models, prompts, and a
// comparison of a system's answers with its baseline's.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createEngine, type Engine } from '../../engine/engine.ts';
import type { RunRequest } from '../../engine/request.ts';
import type { ModelSources } from '../../engine/sources.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { CachePrecision } from '../../model/interface.ts';
import mtp from '../../systems/mtp.ts';
import { committedTokens, type TraceEvent } from '../../trace/index.ts';
import { folderSource } from '../../weights/files/folder.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import { withMarkovHeads } from '../files/markov-heads.ts';
import { shared } from '../goldens/shared.ts';
import { baselineOf, baselineSettings, EXACT, neverFallBack, type SystemVariant, variantsOf } from './exact-systems.ts';

const PUBLIC = resolve(import.meta.dirname, '../../../public');

/**
 * `OUTRIDER_FULL=1` runs every prompt on every adapter (docs/log.md has the figures); CI runs as many as it has time
 * for.
 */
export const FULL = process.env.OUTRIDER_FULL === '1';

/** Every way in which an exact system drafts and verifies; but MTP has a target of its own (device-mtp.test.ts). */
export const EXACT_VARIANTS: readonly SystemVariant[] = EXACT.filter((system) => system !== mtp).flatMap(variantsOf);

/** Half of them: of a system with several variants every other one, beginning with the first or the second. */
export const everyOther = (variants: readonly SystemVariant[], begin: 0 | 1): readonly SystemVariant[] =>
  variants.filter((variant) => {
    const own = variants.filter(({ system }) => system === variant.system);
    return own.length === 1 || own.indexOf(variant) % 2 === begin;
  });

export const collect = async (engine: Engine, request: RunRequest): Promise<TraceEvent[]> => {
  const events: TraceEvent[] = [];
  for await (const event of engine.run(request)) events.push(event);
  return events;
};

/** A request for a system with these settings. */
export const requestOf = ({ system, knobs }: Pick<SystemVariant, 'system' | 'knobs'>) => ({
  system: system.id,
  knobs: neverFallBack(system, knobs),
});

export const loadEngine = async (
  gpu: Gpu,
  sources: ModelSources,
  precision?: Precision,
  cache?: CachePrecision,
): Promise<Engine> => {
  const engine = createEngine({ gpu });
  await engine.load(sources, { precision, cache });
  return engine;
};

export const bundledSource = (name: string) => folderSource(resolve(PUBLIC, 'models', name));

/** No DSpark drafter is bundled: the DFlash one, with Markov heads of random weights. */
export const bundledDspark = () => withMarkovHeads(resolve(PUBLIC, 'models/dflash'));

/** By role, the bundled models that exact systems may need. */
const BUNDLED = { target: 'target', draft: 'draft', dflash: 'dflash', eagle3: 'eagle3', policy: 'blockpilot' } as const;

export const bundledEngine = async (gpu: Gpu, precision: Precision, cache?: CachePrecision): Promise<Engine> => {
  const covered = { ...BUNDLED, dspark: 'dflash', mtp: 'device-mtp.test.ts' };
  const missing = EXACT.flatMap(({ needs }) => needs).filter((role) => !Object.hasOwn(covered, role));
  if (missing.length > 0) throw new Error(`no bundled model for ${missing.join(', ')}: their systems are not covered`);
  const sources = Object.entries(BUNDLED).map(async ([role, name]) => [role, await bundledSource(name)]);
  return loadEngine(
    gpu,
    { ...Object.fromEntries(await Promise.all(sources)), dspark: bundledDspark() } as ModelSources,
    precision,
    cache,
  );
};

const asConversations = (texts: readonly string[]): RunRequest['prompt'][] =>
  texts.map((content) => ({ messages: [{ role: 'user', content }] }));

/** Problems that the bundled models were not trained on, as conversations. */
export const problems = (count: number): RunRequest['prompt'][] =>
  asConversations(
    (JSON.parse(readFileSync(resolve(PUBLIC, 'problems.json'), 'utf8')) as { question: string }[])
      .slice(0, count)
      .map(({ question }) => question),
  );

/** A published model, in a full run drafting for itself: that is loaded twice, and its drafts are all kept. */
export const smollm2Engine = async (gpu: Gpu, precision: Precision): Promise<Engine> => {
  const gguf = () => folderSource(shared('models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf'));
  return loadEngine(gpu, { target: await gguf(), ...(FULL && { draft: await gguf() }) }, precision);
};

/** Every speculative system that needs these models at most. */
export const SMOLLM2_VARIANTS = EXACT_VARIANTS.filter(
  ({ system: { group, needs } }) =>
    group === 'speculative' && needs.every((role) => role === 'target' || (FULL && role === 'draft')),
);

/** For a model of general knowledge; some of them make it copy. */
export const questions = (count: number): RunRequest['prompt'][] =>
  asConversations(
    [
      'Repeat this sentence twice, word for word: The lighthouse keeper counted nine ships before the fog came in.',
      'Write two sentences about a lighthouse in winter.',
      'List the days of the week.',
      'What is the capital of France?',
      'Explain in plain words why the sky is blue.',
      'Write a list of five fruits.',
      'Count from one to twenty.',
      'Copy this line exactly: apples, pears, plums, apples, pears, plums.',
      'Who wrote Hamlet?',
      'Name three colours.',
    ].slice(0, count),
  );

/** An engine that several tests share, and the answers of its baselines, each written once. */
export class BaselineComparison {
  readonly #load: () => Promise<Engine>;
  #engine: Promise<Engine> | null = null;
  readonly #answers = new Map<string, readonly number[]>();

  /** `load` is called by the first test that needs the engine. */
  constructor(load: () => Promise<Engine>) {
    this.#load = load;
  }

  engine(): Promise<Engine> {
    this.#engine ??= this.#load();
    return this.#engine;
  }

  /** How many of these prompts the system answers with other tokens than its baseline. */
  async differences(
    { system, knobs }: Pick<SystemVariant, 'system' | 'knobs'>,
    prompts: readonly RunRequest['prompt'][],
    request: Omit<RunRequest, 'prompt' | 'system' | 'knobs'>,
  ): Promise<number> {
    const engine = await this.engine();
    const baseline = { ...request, system: baselineOf(system).id, knobs: baselineSettings(system, knobs) };
    let different = 0;
    for (const prompt of prompts) {
      const key = JSON.stringify([baseline, prompt]);
      const expected = this.#answers.get(key) ?? committedTokens(await collect(engine, { ...baseline, prompt }));
      this.#answers.set(key, expected);
    }
    // One system after the other: each keeps a cache of its own shape.
    for (const prompt of prompts) {
      const tokens = committedTokens(await collect(engine, { ...request, ...requestOf({ system, knobs }), prompt }));
      if (tokens.join() !== this.#answers.get(JSON.stringify([baseline, prompt]))?.join()) different++;
    }
    return different;
  }

  async close(): Promise<void> {
    await (await this.#engine)?.close();
  }
}
