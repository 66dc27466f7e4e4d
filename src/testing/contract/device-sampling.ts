// The distribution of what a system samples on a device: three tokens, counted over seeds and compared with the
// probability of every sequence, which is computed from the models' own logits.
import { createEngine, type Engine } from '../../engine/engine.ts';
import { loadSource } from '../../engine/load/language-model.ts';
import type { LoadedModel } from '../../engine/load/loaded-models.ts';
import type { Gpu } from '../../gpu/device.ts';
import { committedTokens } from '../../trace/index.ts';
import { tinyMtp } from '../toys/tiny-mtp.ts';
import { bundledDspark, bundledSource, collect, requestOf } from './device-contract.ts';
import { combinedRows } from './ensemble-contract.ts';
import { oneDraft, type Settings, type SystemVariant } from './exact-systems.ts';
import { type Distance, distance, exactDistribution, jointDistribution, nextLogits } from './system-contract.ts';

/** A distance above this many times the noise is an error; a correct system scatters about 1 by 10 % or so. */
export const MARGIN = 1.5;
const SAMPLING = { temperature: 2.5, topK: 4, topP: 0.98, minP: 0.01 };
const TOKENS = 3;

/** Models for these runs, and what they give each sequence of tokens. */
export interface SamplingBench {
  readonly engine: Engine;
  readonly prompt: readonly number[];
  /** Of the target alone. */
  readonly ofTarget: () => Promise<Map<string, number>>;
  /** Of target and draft as an ensemble. */
  readonly ofEnsemble: (knobs: Settings) => Promise<Map<string, number>>;
  close(): Promise<void>;
}

const asked = ({ tokenizer }: LoadedModel, question: string): readonly number[] =>
  tokenizer?.encode(`<bos><user>${question}<assistant>`) ?? [];

const benchOf = (
  engine: Engine,
  prompt: readonly number[],
  target: LoadedModel,
  draft: LoadedModel | null,
): SamplingBench => {
  return {
    engine,
    prompt,
    ofTarget: () => exactDistribution(target.model, prompt, TOKENS, SAMPLING),
    ofEnsemble(knobs) {
      const next = async (tokens: readonly number[]) => {
        const rows = [];
        for (const each of [target, draft]) if (each) rows.push([...(await nextLogits(each.model, tokens))]);
        return combinedRows(rows, knobs, SAMPLING);
      };
      return jointDistribution(next, prompt, TOKENS);
    },
    async close() {
      await engine.close();
      for (const each of [target, draft]) each?.model[Symbol.dispose]();
    },
  };
};

/** The two smallest bundled models: as target and draft, or as an ensemble. */
export const smallModels = async (gpu: Gpu): Promise<SamplingBench> => {
  const [target, draft] = [
    await loadSource(gpu, await bundledSource('draft')),
    await loadSource(gpu, await bundledSource('mid')),
  ];
  const engine = createEngine({ gpu });
  await engine.load({ target, draft });
  return benchOf(engine, asked(target, 'A cup costs 3 dollars. How much do 4 cups cost?'), target, draft);
};

/** The bundled target with its drafters. */
export const targetWithDrafters = async (gpu: Gpu): Promise<SamplingBench> => {
  const target = await loadSource(gpu, await bundledSource('target'));
  const engine = createEngine({ gpu });
  const drafters = { dflash: await bundledSource('dflash'), eagle3: await bundledSource('eagle3') };
  await engine.load({ target, ...drafters, dspark: bundledDspark() });
  return benchOf(engine, asked(target, 'What is 12 + 7?'), target, null);
};

/** A small Qwen3.5 with its MTP layer. */
export const targetWithMtp = async (gpu: Gpu): Promise<SamplingBench> => {
  const { source } = tinyMtp();
  const target = await loadSource(gpu, source);
  const engine = createEngine({ gpu });
  await engine.load({ target, mtp: source });
  return benchOf(engine, [5, 1, 30], target, null);
};

/** A distance, and how many drafts were kept and refused: without both, a wrong verifier would pass. */
export interface SampledDistance extends Distance {
  readonly kept: number;
  readonly refused: number;
}

/** What a system writes at a seed. */
const sampledEvents = (
  { engine, prompt }: SamplingBench,
  { system, knobs }: Pick<SystemVariant, 'system' | 'knobs'>,
  seed: number,
) => {
  const request = { ...SAMPLING, ...requestOf({ system, knobs }), prompt: { tokens: prompt }, seed };
  return collect(engine, { ...request, maxTokens: TOKENS, ignoreEos: true });
};

export const sampledTokens = async (...of: Parameters<typeof sampledEvents>): Promise<readonly number[]> =>
  committedTokens(await sampledEvents(...of));

/** Drafts of one token: the second token is a draft or its replacement, the third a bonus token or a draft. */
export const deviceSamplingDistance = async (
  bench: SamplingBench,
  { system, knobs }: Pick<SystemVariant, 'system' | 'knobs'>,
  runs: number,
): Promise<SampledDistance> => {
  const settings = { ...knobs, ...oneDraft(system) };
  const counts = new Map<string, number>();
  const sources = { drafted: 0, corrected: 0, sampled: 0, bonus: 0, routed: 0, forced: 0 };
  for (let seed = 0; seed < runs; seed++) {
    const events = await sampledEvents(bench, { system, knobs: settings }, seed);
    for (const event of events) if (event.type === 'commit') for (const source of event.source) sources[source]++;
    const key = committedTokens(events).join();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const distribution = await (system.joins ? bench.ofEnsemble(settings) : bench.ofTarget());
  // Enough sequences to tell a wrong distribution from a right one.
  if (distribution.size <= 8) throw new Error(`only ${distribution.size} sequences are possible`);
  return { ...distance(counts, distribution), kept: sources.drafted, refused: sources.corrected };
};
