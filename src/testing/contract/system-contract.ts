// Measures on toy models what every exact system promises: its greedy tokens are the target's, and its sampled tokens
// follow the target's distribution. The references share no code with any system. A toy may be broken on purpose
// (toy-model.ts), to show that the measurements notice.
import type { KnobValue } from '../../decode/core/knobs.ts';
import type { BlockPolicy, DecodingSystem } from '../../decode/core/system.ts';
import { createEngine } from '../../engine/engine.ts';
import type { LoadedModel } from '../../engine/load/loaded-models.ts';
import type { RunRequest } from '../../engine/request.ts';
import { distributionReference } from '../../kernels/sampling/sample.reference.ts';
import type { LanguageModel, Sampling } from '../../model/interface.ts';
import autoregressive from '../../systems/autoregressive.ts';
import type { Tokenizer } from '../../text/tokenizer.ts';
import { committedTokens, type TraceEvent } from '../../trace/index.ts';
import { toyBlockDrafter, toyFeatureDrafter, toyMarkovDrafter } from '../toys/toy-drafters.ts';
import { type ToyOptions, toyModel } from '../toys/toy-model.ts';
import { ToyTokenRing } from '../toys/toy-token-ring.ts';

/** As the engine holds it, without a tokenizer. */
export const toyLoaded = (model: LanguageModel, stopTokens: readonly number[] = []): LoadedModel => ({
  name: 'toy',
  model,
  tokenizer: null,
  stopTokens,
});

/** A target, and drafters of every kind that agree with it most of the time. Its texts are token ids, or have a tokenizer. */
export const toyEngine = async (
  system: DecodingSystem,
  toy: ToyOptions,
  stopTokens: readonly number[] = [],
  tokenizer: Tokenizer | null = null,
) => {
  const engine = createEngine({ systems: [system] });
  const tokenRing = new ToyTokenRing();
  const { vocabulary, sharpness, context = 4096 } = toy;
  const like = { vocabulary, sharpness, noise: toy.noise ?? sharpness / 4, context, tokenRing };
  await engine.load({
    target: { ...toyLoaded(toyModel({ ...toy, noise: 0, tokenRing }), stopTokens), tokenizer },
    draft: toyLoaded(toyModel({ ...like, seed: 1 })),
    dflash: { name: 'toy block', model: toyBlockDrafter({ ...like, seed: 2 }) },
    dspark: { name: 'toy walk', model: toyMarkovDrafter({ ...like, seed: 4 }) },
    eagle3: { name: 'toy features', model: toyFeatureDrafter({ ...like, seed: 3 }) },
    mtp: { name: 'toy layer', model: toyFeatureDrafter({ ...like, seed: 5 }, 'mtp') },
    policy: { name: 'toy policy', model: toyPolicy(vocabulary) },
  });
  const run = async (request: Omit<RunRequest, 'system'>, signal?: AbortSignal): Promise<TraceEvent[]> => {
    const events: TraceEvent[] = [];
    for await (const event of engine.run({ ...request, system: system.id }, signal)) events.push(event);
    return events;
  };
  return { engine, run, tokenRing };
};

/** The chosen size depends on the clock, and must not matter. */
const toyPolicy = (vocabulary: number): BlockPolicy => ({
  vocabulary,
  blockSizes: [2, 4, 6],
  predict: async (logits) => [1.5, 2, 2 + Math.abs((logits[0] ?? 0) % 1)],
  [Symbol.dispose]: () => {},
});

/** The logits of the next token, straight from the model. */
export const nextLogits = async (model: LanguageModel, tokens: readonly number[]): Promise<Float32Array> => {
  using cursor = await model.open();
  return (await cursor.extend(tokens)).logits.read();
};

/** The target's own greedy tokens: the largest logit, the first of several equal ones. */
export const greedyReference = async (model: LanguageModel, prompt: readonly number[], count: number) => {
  const tokens = [...prompt];
  while (tokens.length < prompt.length + count) {
    const logits = await nextLogits(model, tokens);
    tokens.push(logits.indexOf(Math.max(...logits)));
  }
  return tokens.slice(prompt.length);
};

/** The exact probability of every possible sequence of `count` tokens. `next` gives the distribution after a text. */
export const jointDistribution = async (
  next: (tokens: readonly number[]) => readonly number[] | Promise<readonly number[]>,
  prompt: readonly number[],
  count: number,
): Promise<Map<string, number>> => {
  let distribution = new Map<string, number>([['', 1]]);
  for (let i = 0; i < count; i++) {
    const longer = new Map<string, number>();
    for (const [key, probability] of distribution) {
      const written = key === '' ? [] : key.split(',').map(Number);
      for (const [token, p] of (await next([...prompt, ...written])).entries())
        if (p > 0) longer.set([...written, token].join(), probability * p);
    }
    distribution = longer;
  }
  return distribution;
};

/** The same of one model. */
export const exactDistribution = (
  model: LanguageModel,
  prompt: readonly number[],
  count: number,
  sampling: Omit<Sampling, 'seed'>,
): Promise<Map<string, number>> =>
  jointDistribution(
    async (tokens) => distributionReference([...(await nextLogits(model, tokens))], sampling),
    prompt,
    count,
  );

export interface Distance {
  /** Half the sum of absolute differences between counted and exact probabilities. */
  readonly totalVariation: number;
  /** What counting alone is expected to give: Σ √(p(1−p)/n) / √(2π) over the outcomes. */
  readonly noise: number;
}

export interface Trial {
  readonly knobs?: Readonly<Record<string, KnobValue>>;
  /** Changes to the toy models. */
  readonly toy?: Partial<ToyOptions>;
}

const GREEDY_TOY = { vocabulary: 12, sharpness: 6 };
/** By prompt: the references are the same for every system. */
const greedyKnown = new Map<string, Promise<readonly number[]>>();

/** Prompts whose greedy tokens differ from the target's own. */
export const greedyFailures = async (
  system: DecodingSystem,
  prompts: number,
  count: number,
  { knobs = {}, toy = {} }: Trial = {},
): Promise<number> => {
  const { engine, run } = await toyEngine(system, { ...GREEDY_TOY, ...toy });
  let failures = 0;
  for (let i = 0; i < prompts; i++) {
    const prompt = Array.from({ length: 1 + (i % 5) }, (_, j) => (i * 7 + j * 5) % GREEDY_TOY.vocabulary);
    const key = `${count} ${prompt}`;
    const expected = greedyKnown.get(key) ?? greedyReference(toyModel(GREEDY_TOY), prompt, count);
    greedyKnown.set(key, expected);
    const events = await run({ prompt: { tokens: prompt }, maxTokens: count, knobs });
    if (committedTokens(events).join() !== (await expected).join()) failures++;
  }
  await engine.close();
  return failures;
};

/**
 * Seeds for a system that should be right. A broken one must be at three times the noise of its own seeds, at most
 * `MOST_SEEDS`. One that is just there would be at about 2 times the noise of 3000 seeds; a right one stays below 1.5.
 */
export const RUNS = process.env.OUTRIDER_FULL === '1' ? 20_000 : 3000;
const MOST_SEEDS = 8000;
/** A broken system is found out at this many times the noise, twice what a right one may have. */
export const BROKEN = 3;
/** Where a broken one is looked at: what is far off needs few seeds. */
const LOOKS = [500, 1000, 2000, 4000, MOST_SEEDS];

/** So many, or until a broken system is found out. */
export type Seeds = number | 'until found';

/** How far the outcomes are from their distribution, each seed having one. */
export const countedDistance = async (
  write: (seed: number) => Promise<readonly TraceEvent[]>,
  seeds: Seeds,
  distribution: ReadonlyMap<string, number>,
): Promise<Distance> => {
  const most = seeds === 'until found' ? MOST_SEEDS : seeds;
  const counts = new Map<string, number>();
  for (let seed = 0; seed < most; seed++) {
    const key = committedTokens(await write(seed)).join();
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (seeds !== 'until found' || !LOOKS.includes(seed + 1)) continue;
    const now = distance(counts, distribution);
    if (now.totalVariation > BROKEN * now.noise) return now;
  }
  return distance(counts, distribution);
};

/** Three sampled tokens: what is written at a seed. */
const SAMPLED = { distribution: { vocabulary: 4, sharpness: 3 }, prompt: [1, 2, 3, 0], count: 3, temperature: 0.8 };

const sampledEngine = async (system: DecodingSystem, { knobs = {}, toy = {} }: Trial, count = SAMPLED.count) => {
  const { distribution, prompt, temperature } = SAMPLED;
  const { engine, run } = await toyEngine(system, { ...distribution, ...toy });
  const request = { prompt: { tokens: prompt }, maxTokens: count, temperature, knobs };
  return { engine, write: (seed: number) => run({ ...request, seed }) };
};

/** How far the joint distribution of three sampled tokens is from the target's. */
export const samplingDistance = async (system: DecodingSystem, seeds: Seeds, trial: Trial = {}): Promise<Distance> => {
  const { distribution, prompt, count, temperature } = SAMPLED;
  const sampling = { temperature, topK: 0, topP: 1, minP: 0 };
  const { engine, write } = await sampledEngine(system, trial);
  const exact = await exactDistribution(toyModel(distribution), prompt, count, sampling);
  const found = await countedDistance(write, seeds, exact);
  await engine.close();
  return found;
};

/** Tokens that are compared one by one: more than three, because a look-up drafts only once words come again. */
const COMPARED = 16;
/** What plain decoding writes at a seed. */
const sampledKnown = new Map<number, string>();

/** The seeds, of so many, at which the same tokens are not those of plain decoding. */
export const sampledDifferences = async (
  system: DecodingSystem,
  seeds: number,
  trial: Trial = {},
): Promise<readonly number[]> => {
  const [plain, own] = [
    await sampledEngine(autoregressive, {}, COMPARED),
    await sampledEngine(system, trial, COMPARED),
  ];
  const different: number[] = [];
  for (let seed = 0; seed < seeds; seed++) {
    const expected = sampledKnown.get(seed) ?? committedTokens(await plain.write(seed)).join();
    sampledKnown.set(seed, expected);
    if (committedTokens(await own.write(seed)).join() !== expected) different.push(seed);
  }
  await Promise.all([plain.engine.close(), own.engine.close()]);
  return different;
};

/** Half the sum of differences; an outcome outside the distribution counts in full. */
export const distance = (counts: ReadonlyMap<string, number>, distribution: ReadonlyMap<string, number>): Distance => {
  const runs = [...counts.values()].reduce((a, b) => a + b, 0);
  let [totalVariation, noise] = [0, 0];
  for (const [key, count] of counts) if (!distribution.has(key)) totalVariation += count / runs / 2;
  for (const [key, p] of distribution) {
    totalVariation += Math.abs((counts.get(key) ?? 0) / runs - p) / 2;
    noise += Math.sqrt((p * (1 - p)) / runs / (2 * Math.PI));
  }
  return { totalVariation, noise };
};
