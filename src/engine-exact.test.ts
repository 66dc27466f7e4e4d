// Exact systems on real models: greedy tokens equal to plain decoding's on the bundled family, the reference models and
// SmolLM2; acceptance lengths equal to the reference loops', round by round; the sampled law; and what a round may cost.
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
  WAYS,
} from './testing/device-contract.ts';
import { readGolden } from './testing/golden.ts';
import { testGpu } from './testing/gpu.ts';
import { noShared, shared } from './testing/shared.ts';
import { committedTokens, type EventOf, measure } from './trace.ts';
import { folderSource } from './weights/folder.ts';

const PATIENCE = FULL ? 3_600_000 : 240_000;

afterAll(async () => (await testGpu()).destroy());

describe.each(['f32', 'q4'] as const)('the bundled family at %s', (precision) => {
  it('writes the tokens of plain decoding: 50 prompts of 64 tokens', { timeout: PATIENCE }, async () => {
    const engine = await bundledEngine(await testGpu(), precision);
    const request = { maxTokens: 64, ignoreEos: true };
    expect(await differences(engine, WAYS, problems(50), request)).toEqual(NONE(WAYS));
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
  const gguf = () => folderSource(shared('models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf'));
  const asks = [
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
  ];

  it('writes the tokens of plain decoding', { timeout: PATIENCE }, async () => {
    const engine = await loadEngine(await testGpu(), { target: await gguf(), draft: await gguf() }, precision);
    const ways = [{ system: 'prompt-lookup' }, { system: 'draft-model', knobs: { gamma: 3 } }];
    const prompts = asks.slice(0, FULL ? 10 : 2).map((content) => ({ messages: [{ role: 'user' as const, content }] }));
    expect(await differences(engine, ways, prompts, { maxTokens: FULL ? 64 : 24, ignoreEos: true })).toEqual(
      NONE(ways),
    );
    await engine.close();
  });
});
