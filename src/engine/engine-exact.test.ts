// Exact systems on real models: greedy tokens equal to plain decoding's on the bundled family, the reference models and
// SmolLM2; acceptance lengths equal to the reference loops', round by round; the sampled distribution; and what a round
// may cost.
import { afterAll, describe, expect, it } from 'vitest';
import {
  asked,
  bundledEngine,
  collect,
  differences,
  FULL,
  loadEngine,
  NONE,
  problems,
  questions,
  SMOLLM2_WAYS,
  smollm2Engine,
  WAYS,
} from '../testing/contract/device-contract.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { readGolden } from '../testing/goldens/golden.ts';
import { noShared, shared } from '../testing/goldens/shared.ts';
import { committedTokens, type EventOf, measure } from '../trace/index.ts';
import { folderSource } from '../weights/files/folder.ts';

const PATIENCE = FULL ? 3_600_000 : 900_000;

afterAll(async () => (await testGpu()).destroy());

/** Every system at either precision; of those that draft in two ways, one way at each. */
const WAYS_AT = {
  f32: WAYS.filter(({ knobs }) => knobs?.['block-size'] !== 16 && knobs?.shape !== 'tree'),
  q4: WAYS.filter(({ knobs }) => knobs?.['block-size'] !== 8 && knobs?.shape !== 'chain'),
};

describe.each(['f32', 'q4'] as const)('the bundled family at %s', (precision) => {
  it('writes the tokens of plain decoding: 50 prompts of 64 tokens', { timeout: PATIENCE }, async () => {
    const engine = await bundledEngine(await testGpu(), precision);
    const request = { maxTokens: 64, ignoreEos: true };
    const ways = FULL ? WAYS : WAYS_AT[precision];
    expect(await differences(engine, ways, problems(50), request)).toEqual(NONE(ways));
    await engine.close();
  });
});

describe('the bundled family', () => {
  it('samples the tokens of plain decoding where drafts are not drawn', { timeout: PATIENCE }, async () => {
    const engine = await bundledEngine(await testGpu(), 'q8');
    const ways = [
      { system: 'prompt-lookup' },
      { system: 'dflash', knobs: { draft: 'greedy' } },
      { system: 'eagle3', knobs: { shape: 'tree' } },
    ];
    const request = { maxTokens: 64, ignoreEos: true, temperature: 1, topP: 0.95, seed: 11 };
    expect(await differences(engine, ways, problems(10), request)).toEqual(NONE(ways));
    await engine.close();
  });

  it('takes one submit and one readback of some hundred bytes a round', async () => {
    const engine = await bundledEngine(await testGpu(), 'q8');
    const [prompt] = problems(1);
    for (const way of WAYS) {
      const events = await collect(engine, {
        ...asked(way),
        prompt: prompt ?? { tokens: [1] },
        maxTokens: 60,
        ignoreEos: true,
      });
      const work = events.filter((event): event is EventOf<'kernels'> => event.type === 'kernels' && event.round > 0);
      expect(work.length).toBeGreaterThan(3);
      for (const { submits, readbacks, readback_bytes } of work) {
        expect({ way, submits, readbacks }).toEqual({ way, submits: 1, readbacks: 1 });
        expect(readback_bytes).toBeLessThanOrEqual(16 + 32 * 16);
      }
    }
    await engine.close();
  });

  it('tells what target and drafter gave every draft, in that same readback', { timeout: PATIENCE }, async () => {
    const engine = await bundledEngine(await testGpu(), 'q8');
    const [prompt] = problems(1);
    for (const way of WAYS)
      for (const temperature of [0, 1]) {
        const request = {
          ...asked(way),
          prompt: prompt ?? { tokens: [1] },
          maxTokens: 40,
          ignoreEos: true,
          temperature,
        };
        const events = await collect(engine, { ...request, seed: 5, logprobs: 0 });
        const name = JSON.stringify({ way, temperature });
        let verify: EventOf<'verify'> | undefined;
        let drafts: readonly number[] = [];
        let kept = 0;
        for (const event of events) {
          if (event.type === 'draft') drafts = event.tokens.slice(1);
          if (event.type === 'verify') verify = event;
          if (event.type === 'kernels' && event.round > 0) {
            expect({ name, submits: event.submits, readbacks: event.readbacks }).toEqual({
              name,
              submits: 1,
              readbacks: 1,
            });
            expect(event.readback_bytes, name).toBeLessThanOrEqual(16 + 32 * 16);
          }
          if (event.type !== 'commit' || !verify?.probabilities) continue;
          const { probabilities, path } = verify;
          expect(probabilities, name).toHaveLength(drafts.length);
          for (const { target, draft } of probabilities) {
            expect(target >= 0 && target < 1.0001, name).toBe(true);
            expect(
              way.system === 'prompt-lookup' ? draft === null : draft !== null && draft > 0 && draft < 1.0001,
              name,
            ).toBe(true);
          }
          // A kept draft is a committed token, whose log-probability is read from the target's own draw or its row.
          for (const [i, { logprob }] of (event.logprobs ?? []).slice(0, path.length - 1).entries()) {
            expect(probabilities[(path[i + 1] as number) - 1]?.target, name).toBeCloseTo(Math.exp(logprob), 4);
            kept++;
          }
          verify = undefined;
        }
        if (way.system !== 'prompt-lookup') expect(kept, name).toBeGreaterThan(3);
      }
    await engine.close();
  });
});

describe.skipIf(noShared)('reference drafters', () => {
  const golden = async (drafter: string, role: 'dflash' | 'eagle3') =>
    loadEngine(
      await testGpu(),
      {
        target: await folderSource(shared('golden/qwen3-tiny-deep')),
        [role]: await folderSource(shared('golden', drafter)),
      },
      'f32',
    );

  interface ReferenceRun {
    readonly block_size?: number;
    readonly draft_depth?: number;
    readonly tokens: readonly number[];
    readonly acceptance_lengths: readonly number[];
    readonly drafts: readonly (readonly number[])[];
  }

  it.each([
    ['dflash-tiny', 'dflash'],
    ['dflash-tiny-good', 'dflash'],
    ['eagle3-tiny', 'eagle3'],
    ['eagle3-tiny-good', 'eagle3'],
  ] as const)('%s drafts, keeps and writes what the reference loop does', async (name, role) => {
    const { prefix, runs } = readGolden(name) as unknown as { prefix: number[]; runs: ReferenceRun[] };
    const engine = await golden(name, role);
    for (const { block_size, draft_depth, tokens, acceptance_lengths, drafts } of runs) {
      const knobs = block_size ? { 'block-size': block_size } : { shape: 'chain', depth: draft_depth ?? 0 };
      const request = { prompt: { tokens: prefix }, maxTokens: tokens.length, ignoreEos: true };
      const events = await collect(engine, { ...request, ...asked({ system: role, knobs }) });
      expect(committedTokens(events)).toEqual(tokens);
      expect(measure(events).acceptance_lengths).toEqual(acceptance_lengths);
      const drafted = events.flatMap((event) => (event.type === 'draft' ? [event.tokens.slice(1)] : []));
      // Near its end a reference may draft what can no longer be committed.
      for (const [i, draft] of drafted.entries()) expect(draft).toEqual(drafts[i]?.slice(0, draft.length));
      expect(drafted.length).toBeGreaterThanOrEqual(acceptance_lengths.length - 1);
    }
    await engine.close();
  });

  it('trees keep the tokens of plain decoding', async () => {
    const { prefix, runs } = readGolden('eagle3-tiny-good') as unknown as { prefix: number[]; runs: ReferenceRun[] };
    const engine = await golden('eagle3-tiny-good', 'eagle3');
    const [run] = runs;
    for (const knobs of [
      { shape: 'tree', depth: 4, width: 3, nodes: 10 },
      { shape: 'tree', depth: 7, width: 10, nodes: 59 },
    ]) {
      const way = asked({ system: 'eagle3', knobs });
      const events = await collect(engine, { ...way, prompt: { tokens: prefix }, maxTokens: 30, ignoreEos: true });
      expect(committedTokens(events)).toEqual(run?.tokens);
      expect(measure(events).tokens_per_round).toBeGreaterThan(2);
    }
    await engine.close();
  });
});

describe.skipIf(noShared).each(FULL ? (['q4', 'f32'] as const) : (['q4'] as const))('SmolLM2 at %s', (precision) => {
  it('writes the tokens of plain decoding', { timeout: PATIENCE }, async () => {
    const engine = await smollm2Engine(await testGpu(), precision);
    const [prompts, request] = [questions(FULL ? 10 : 2), { maxTokens: FULL ? 64 : 24, ignoreEos: true }];
    expect(await differences(engine, SMOLLM2_WAYS, prompts, request)).toEqual(NONE(SMOLLM2_WAYS));
    await engine.close();
  });
});
