// The distribution of what is sampled, on bundled models and a real adapter, where drafts are drawn at random and kept
// with probability p/q: three tokens, counted over seeds and held against every probability that the target gives.
import { resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { asked, collect, FULL } from '../testing/contract/device-contract.ts';
import { combinedRows } from '../testing/contract/ensemble-contract.ts';
import { distance, exactDistribution, jointDistribution, nextLogits } from '../testing/contract/system-contract.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { committedTokens } from '../trace/index.ts';
import { folderSource } from '../weights/files/folder.ts';
import { createEngine } from './engine.ts';
import { loadDrafterSource } from './load/drafter.ts';
import { loadSource } from './load/language-model.ts';

const RUNS = 2000;
/** As in system-contract.test.ts. */
const MARGIN = 1.5;
const SAMPLING = { temperature: 1.5, topK: 4, topP: 0.98, minP: 0.01 };
const PROMPT = 'A cup costs';

afterAll(async () => (await testGpu()).destroy());

/** Blocks of one draft: the second token is a draft or its replacement, the third a bonus or a draft. */
const WAYS = [
  { system: 'draft-model', target: 'draft', beside: 'mid', knobs: { gamma: 1 } },
  { system: 'dflash', target: 'target', beside: 'dflash', knobs: { 'block-size': 2, draft: 'sampled' } },
  { system: 'eagle3', target: 'target', beside: 'eagle3', knobs: { depth: 1, shape: 'chain' } },
] as const;

describe.each(FULL ? WAYS : WAYS.slice(0, 2))('$system drawing from $beside for $target', (way) => {
  it(`follows the target's distribution: ${RUNS} seeds`, { timeout: 900_000 }, async () => {
    const gpu = await testGpu();
    const source = (name: string) => folderSource(resolve(import.meta.dirname, '../../public/models', name));
    const target = await loadSource(gpu, await source(way.target));
    const engine = createEngine({ gpu });
    if (way.system === 'draft-model') await engine.load({ target, draft: await source(way.beside) });
    else {
      const { name, model } = await loadDrafterSource(gpu, await source(way.beside), target);
      await engine.load({
        target,
        ...(model.kind === 'dflash' ? { dflash: { name, model } } : { eagle3: { name, model } }),
      });
    }
    const prompt = target.tokenizer?.encode(PROMPT) ?? [];
    const distribution = await exactDistribution(target.model, prompt, 3, SAMPLING);
    // Enough of them to tell a wrong distribution, and few enough for so many runs.
    expect(distribution.size).toBeGreaterThan(8);
    const counts = new Map<string, number>();
    for (let seed = 0; seed < RUNS; seed++) {
      const request = { ...SAMPLING, prompt: { tokens: prompt }, seed, maxTokens: 3, ignoreEos: true };
      const key = committedTokens(await collect(engine, { ...request, ...asked(way) })).join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const { totalVariation, noise } = distance(counts, distribution);
    console.log(
      `${way.system}: total variation ${totalVariation.toFixed(4)}, noise ${noise.toFixed(4)}, ${distribution.size} outcomes`,
    );
    expect(totalVariation).toBeLessThan(MARGIN * noise);
    await engine.close();
    target.model[Symbol.dispose]();
  });
});

const COMBINATIONS = [
  { combine: 'weighted', lambda: [0.7] },
  { combine: 'contrastive', mu: 0.4 },
] as const;
const ENSEMBLES = [
  { system: 'ensemble' },
  { system: 'ensemble-speculative', gamma: 1 },
  { system: 'cos-naive', gamma: 2 },
  { system: 'cos', gamma: [1] },
].flatMap(({ system, ...gamma }) =>
  COMBINATIONS.map((combination) => ({ system, knobs: { ...combination, ...gamma } })),
);

/** The last one takes turns, which no other does: it is always here. */
describe.each(FULL ? ENSEMBLES : ENSEMBLES.slice(-1))('$system of two bundled models, $knobs', ({ system, knobs }) => {
  it(`follows the distribution of both together: ${RUNS} seeds`, { timeout: 900_000 }, async () => {
    const gpu = await testGpu();
    const load = async (name: string) =>
      loadSource(gpu, await folderSource(resolve(import.meta.dirname, '../../public/models', name)));
    const members = [await load('draft'), await load('mid')] as const;
    const engine = createEngine({ gpu });
    await engine.load({ target: members[0], draft: members[1] });
    const prompt = members[0].tokenizer?.encode(PROMPT) ?? [];
    const next = async (tokens: readonly number[]) => {
      const rows = [];
      for (const { model } of members) rows.push([...(await nextLogits(model, tokens))]);
      return combinedRows(rows, knobs, SAMPLING);
    };
    const distribution = await jointDistribution(next, prompt, 3);
    expect(distribution.size).toBeGreaterThan(8);
    const counts = new Map<string, number>();
    for (let seed = 0; seed < RUNS; seed++) {
      const request = { ...SAMPLING, prompt: { tokens: prompt }, seed, maxTokens: 3, ignoreEos: true };
      const key = committedTokens(await collect(engine, { ...request, system, knobs })).join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const { totalVariation, noise } = distance(counts, distribution);
    console.log(
      `${system}: total variation ${totalVariation.toFixed(4)}, noise ${noise.toFixed(4)}, ${distribution.size} outcomes`,
    );
    expect(totalVariation).toBeLessThan(MARGIN * noise);
    await engine.close();
    for (const { model } of members) model[Symbol.dispose]();
  });
});
