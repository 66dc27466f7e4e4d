// Exact systems on the families' reference models, with the model itself at 4 bits as its draft: plain decoding writes
// transformers' greedy tokens, and every system those of its baseline.
import { afterAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../engine/engine.ts';
import { committedTokens } from '../../trace/index.ts';
import { folderSource } from '../../weights/files/folder.ts';
import { testGpu } from '../device/gpu.ts';
import { readGolden, TINY_FAMILIES } from '../goldens/golden.ts';
import { noShared, shared } from '../goldens/shared.ts';
import { tinySource } from '../toys/tiny-family.ts';
import { BaselineComparison, collect, EXACT_VARIANTS, everyOther, FULL } from './device-contract.ts';

const TOKENS = 24;

/** Systems that write token by token (the others need text), and need a target and a draft at most. */
const VARIANTS = EXACT_VARIANTS.filter(
  ({ system: { group, needs } }) =>
    ['speculative', 'ensemble'].includes(group) && needs.every((role) => ['target', 'draft'].includes(role)),
);

/**
 * Of a system with several variants every other one, and the others on the next family: where drafts come from and how
 * they are combined does not meet what a family keeps of a row.
 */
const variantsOn = (families: readonly string[], name: string) =>
  FULL ? VARIANTS : everyOther(VARIANTS, families.indexOf(name) % 2 === 0 ? 0 : 1);

afterAll(async () => (await testGpu()).destroy());

describe.skipIf(noShared).each(TINY_FAMILIES)('%s', (name) => {
  const comparison = new BaselineComparison(async () => {
    const source = () => folderSource(shared('golden', name));
    const sources = { target: await source(), draft: await source() };
    const engine = createEngine({ gpu: await testGpu() });
    await engine.load(sources, { precision: { target: 'f32', draft: 'q4' } });
    return engine;
  });
  afterAll(() => comparison.close());
  const request = { maxTokens: TOKENS, ignoreEos: true };

  it("plain decoding writes transformers' greedy tokens", async () => {
    const { prompt, greedy } = readGolden(name);
    const events = await collect(await comparison.engine(), { ...request, prompt: { tokens: prompt } });
    expect(committedTokens(events)).toEqual(greedy.slice(0, TOKENS));
  });

  it.each(variantsOn(TINY_FAMILIES, name))('$name', async (variant) => {
    const { prompt, greedy, crossing } = readGolden(name);
    // The second prompt begins with the first one: the prefix cache has to forget all rows after that.
    // longrope: an answer that crosses the original length.
    const across = crossing ? [crossing.prompt] : [];
    const prompts = [prompt, [...prompt, ...greedy.slice(0, 2), 5, 6, 7], ...across].map((tokens) => ({ tokens }));
    expect(await comparison.differences(variant, prompts, request)).toBe(0);
  });
});

/** Families without a reference model: learned positions; parallel parts, each head's queries, keys and values in turn. */
const TINY = {
  'GPT-2': { architectures: ['GPT2LMHeadModel'], n_embd: 48, n_head: 3, n_layer: 2, n_positions: 96, vocab_size: 50 },
  'GPT-NeoX': {
    architectures: ['GPTNeoXForCausalLM'],
    hidden_size: 48,
    intermediate_size: 70,
    num_attention_heads: 3,
    num_hidden_layers: 2,
    max_position_embeddings: 96,
    vocab_size: 50,
  },
};

describe.each(Object.entries(TINY))('%s with random weights', (name, config) => {
  const comparison = new BaselineComparison(async () => {
    const engine = createEngine({ gpu: await testGpu() });
    const sources = { target: tinySource(config, 1), draft: tinySource(config, 2) };
    await engine.load(sources, { precision: { target: 'f32', draft: 'f32' } });
    return engine;
  });
  afterAll(() => comparison.close());

  it.each(variantsOn(Object.keys(TINY), name))('$name', async (variant) => {
    const prompts = [
      [3, 1, 4, 1, 5, 9, 2, 6],
      [3, 1, 4, 1, 5, 7, 7],
    ].map((tokens) => ({ tokens }));
    expect(await comparison.differences(variant, prompts, { maxTokens: TOKENS, ignoreEos: true })).toBe(0);
  });
});
