// Every system in systems/index.ts is held to its declared guarantee, automatically; broken systems that must fail show
// that the test could.
import { describe, expect, it } from 'vitest';
import { drawToken, prefill } from '../decode/prefill.ts';
import type { DecodingSystem, Sequence } from '../decode/system.ts';
import { SYSTEMS } from '../systems/index.ts';
import { committedTokens } from '../trace.ts';
import { greedyFailures, samplingDistance, toyEngine } from './contract.ts';

const PROMPTS = 50;
const TOKENS = 64;
const RUNS = 20_000;
/** The distance of a correct system scatters about the noise floor by 10 % or so; broken ones are at 3 to 20 times it. */
const MARGIN = 1.5;

/** Plain decoding with one thing wrong. */
const broken = (
  id: string,
  wrong: { sequence?: (sequence: Sequence) => Sequence; token?: (token: number) => number; forget?: boolean },
): DecodingSystem => ({
  id,
  title: id,
  paper: '',
  guarantee: 'exact',
  needs: ['target'],
  knobs: {},
  async start(run) {
    const { cursor, first } = await prefill(run, 'target');
    return {
      first,
      async round({ sequence }) {
        const pass = cursor.forward({ tokens: sequence.tokens.slice(-1), parents: [-1] });
        const commit = await drawToken(pass, 0, wrong.sequence?.(sequence) ?? sequence);
        if (!wrong.forget) pass.accept([0]);
        return { ...commit, tokens: commit.tokens.map((token) => wrong.token?.(token) ?? token) };
      },
    };
  },
});

const withSampling = (change: object) => (sequence: Sequence) => ({
  ...sequence,
  sampling: { ...sequence.sampling, ...change },
});

describe.each(SYSTEMS.filter(({ guarantee }) => guarantee === 'exact'))('$id is exact', (system) => {
  it(`writes the target's greedy tokens: ${PROMPTS} prompts of ${TOKENS} tokens`, async () => {
    expect(await greedyFailures(system, PROMPTS, TOKENS)).toBe(0);
  });

  it(`follows the target's law: three tokens, ${RUNS} seeds`, async () => {
    const { totalVariation, noise } = await samplingDistance(system, RUNS);
    expect(totalVariation).toBeLessThan(MARGIN * noise);
  });
});

describe('broken systems are found out', () => {
  it.each([
    broken('a committed row is forgotten', { forget: true }),
    broken('a neighbouring token', { token: (token) => (token === 3 ? 4 : token) }),
    broken('sampled, though greedy was asked for', { sequence: withSampling({ temperature: 0.5 }) }),
  ])('greedy: $id', async (system) => {
    expect(await greedyFailures(system, 10, TOKENS)).toBeGreaterThan(0);
  });

  it.each([
    broken('greedy, though sampling was asked for', { sequence: withSampling({ temperature: 0 }) }),
    broken('another temperature', { sequence: withSampling({ temperature: 1 }) }),
    broken('the same randomness at every seed', { sequence: withSampling({ seed: 7 }) }),
    broken('a committed row is forgotten', { forget: true }),
  ])('sampled: $id', async (system) => {
    const { totalVariation, noise } = await samplingDistance(system, RUNS);
    expect(totalVariation).toBeGreaterThan(2 * MARGIN * noise);
  });
});

describe.each(SYSTEMS)('$id', (system) => {
  const toy = { vocabulary: 12, sharpness: 3, context: 64 };
  const prompt = { tokens: [3, 1, 4, 1, 5] };
  const sampled = { prompt, temperature: 1, seed: 42, maxTokens: 40 };

  it('gives the same output for the same seed, another for another', async () => {
    const { run } = await toyEngine(system, toy);
    const tokens = committedTokens(await run(sampled));
    expect(tokens).toHaveLength(40);
    expect(committedTokens(await run(sampled))).toEqual(tokens);
    expect(committedTokens(await run({ ...sampled, seed: 43 }))).not.toEqual(tokens);
  });

  it('ends at a stop token, commits it, and nothing after it', async () => {
    const { run } = await toyEngine(system, toy);
    const tokens = committedTokens(await run(sampled));
    for (const stop of new Set(tokens)) {
      const stopping = await toyEngine(system, toy, [stop]);
      const events = await stopping.run(sampled);
      expect(committedTokens(events)).toEqual(tokens.slice(0, tokens.indexOf(stop) + 1));
      expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'stop', stop });
      expect(committedTokens(await stopping.run({ ...sampled, ignoreEos: true }))).toEqual(tokens);
    }
  });

  it('commits exactly max_tokens, up to the end of the context', async () => {
    const { run } = await toyEngine(system, toy);
    const all = committedTokens(await run({ ...sampled, maxTokens: 59 }));
    expect(all).toHaveLength(59);
    for (const maxTokens of [1, 2, 3, 17, 58]) {
      const events = await run({ ...sampled, maxTokens });
      expect(committedTokens(events)).toEqual(all.slice(0, maxTokens));
      expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'length', stop: null });
    }
  });

  it('continues a conversation from its cache exactly as it would from nothing', async () => {
    const { run } = await toyEngine(system, toy);
    let tokens: number[] = [...prompt.tokens];
    for (const maxTokens of [7, 9, 11]) {
      const request = { prompt: { tokens: [...tokens, 2, 7] }, temperature: 1, seed: maxTokens, maxTokens };
      const events = await run(request);
      const afresh = await toyEngine(system, toy);
      expect(committedTokens(events)).toEqual(committedTokens(await afresh.run(request)));
      if (tokens.length > prompt.tokens.length)
        expect(events.find((event) => event.type === 'prefill')).toMatchObject({ reused: tokens.length - 1, rows: 3 });
      tokens = [...request.prompt.tokens, ...committedTokens(events)];
    }
  });

  it('stops where it was aborted and runs on undisturbed afterwards', async () => {
    const { engine, run } = await toyEngine(system, toy);
    const tokens = committedTokens(await run(sampled));
    const abort = new AbortController();
    const seen: number[] = [];
    for await (const event of engine.run({ ...sampled, system: system.id }, abort.signal)) {
      if (event.type === 'commit') seen.push(...event.tokens);
      if (seen.length >= 5) abort.abort();
      if (event.type === 'done') expect(event.finish_reason).toBe('aborted');
    }
    expect(seen).toEqual(tokens.slice(0, seen.length));
    expect(seen.length).toBeLessThan(tokens.length);
    expect(committedTokens(await run(sampled))).toEqual(tokens);
  });
});
