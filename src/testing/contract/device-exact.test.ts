// Exact systems on real models: greedy tokens equal to their baseline's on the bundled family, the reference models and
// SmolLM2; acceptance lengths equal to the reference loops', round by round; and what a round may cost.
import { afterAll, describe, expect, it } from 'vitest';
import type { KnobValue } from '../../decode/core/knobs.ts';
import dflash from '../../systems/dflash.ts';
import eagle3 from '../../systems/eagle3.ts';
import { committedTokens, type EventOf, measure } from '../../trace/index.ts';
import { folderSource } from '../../weights/files/folder.ts';
import { testGpu } from '../device/gpu.ts';
import { readGolden } from '../goldens/golden.ts';
import { noShared, shared } from '../goldens/shared.ts';
import {
  BaselineComparison,
  bundledEngine,
  collect,
  EXACT_VARIANTS,
  everyOther,
  FULL,
  loadEngine,
  problems,
  questions,
  requestOf,
  SMOLLM2_VARIANTS,
  smollm2Engine,
} from './device-contract.ts';
import { baselineOf, isSpeculative, type SystemVariant } from './exact-systems.ts';

const PATIENCE = { timeout: FULL ? 3_600_000 : 900_000 };

const atF32 = new BaselineComparison(async () => bundledEngine(await testGpu(), 'f32', 'f32'));
const atQ8 = new BaselineComparison(async () => bundledEngine(await testGpu(), 'q8', 'f32'));
const atQ4 = new BaselineComparison(async () => bundledEngine(await testGpu(), 'q4', 'q8'));

afterAll(async () => {
  await Promise.all([atF32, atQ8, atQ4].map((comparison) => comparison.close()));
  (await testGpu()).destroy();
});

/** CI compares at f32 on SwiftShader alone, and only systems that speculate: device-exact-swiftshader.test.ts. */
const F32 = FULL ? ([['f32, its cache at f32', atF32, 0]] as const) : [];

/**
 * Of a system with several variants, half at either precision; ensembles at the second one alone, because those at q8
 * are compared in device-ensemble.test.ts.
 */
const atPrecision = (begin: 0 | 1) =>
  everyOther(EXACT_VARIANTS, begin).filter(({ system }) => begin === 1 || !system.joins);

describe.each([...F32, ['q8, its cache at f32', atQ8, 0], ['q4, its cache at q8', atQ4, 1]] as const)(
  'the bundled family at %s',
  (_, comparison, begin) => {
    const variants = FULL ? EXACT_VARIANTS : atPrecision(begin);
    it.each(variants)('$name writes the tokens of its baseline', PATIENCE, async (variant) => {
      const request = { maxTokens: FULL || isSpeculative(variant.system) ? 64 : 32, ignoreEos: true };
      expect(await comparison.differences(variant, problems(FULL ? 50 : 4), request)).toBe(0);
    });
  },
);

describe('the bundled family', () => {
  const speculative = EXACT_VARIANTS.filter(({ system }) => isSpeculative(system));
  const [prompt = { tokens: [1] }] = problems(1);

  it.each(speculative.filter(({ drawn }) => !drawn))(
    '$name samples the tokens of plain decoding, because its drafts are not drawn',
    PATIENCE,
    async (variant) => {
      const request = { maxTokens: 64, ignoreEos: true, temperature: 1, topP: 0.95, seed: 11 };
      expect(await atQ8.differences(variant, problems(FULL ? 10 : 3), request)).toBe(0);
    },
  );

  /**
   * A cut on the host reads confidences before the target's pass. EAGLE-3 drafts that are as deep as pays are read one by
   * one on a software adapter.
   */
  const readsDrafts = ({ knobs }: SystemVariant): boolean =>
    knobs['cut-by'] === 'host' || knobs.depth === 0 || knobs.drafter === 'eagle3';

  it.each(speculative.filter((variant) => !readsDrafts(variant)))(
    '$name takes one submit and one readback of some hundred bytes a round',
    async (variant) => {
      const request = { ...requestOf(variant), prompt, maxTokens: 60, ignoreEos: true };
      const events = await collect(await atQ8.engine(), request);
      const work = events.filter((event): event is EventOf<'kernels'> => event.type === 'kernels' && event.round > 0);
      expect(work.length).toBeGreaterThan(3);
      for (const { submits, readbacks, readback_bytes } of work) {
        expect({ submits, readbacks }).toEqual({ submits: 1, readbacks: 1 });
        expect(readback_bytes).toBeLessThanOrEqual(16 + 32 * 16);
      }
    },
  );

  it.each(speculative)(
    '$name tells what target and drafter gave every draft, without another readback',
    PATIENCE,
    async (variant) => {
      for (const temperature of [0, 1]) {
        const request = { ...requestOf(variant), prompt, maxTokens: 40, ignoreEos: true, temperature };
        const events = await collect(await atQ8.engine(), { ...request, seed: 5, logprobs: 0 });
        let verify: EventOf<'verify'> | undefined;
        let drafts: readonly number[] = [];
        let by: string | undefined;
        let kept = 0;
        for (const event of events) {
          if (event.type === 'draft') {
            drafts = event.tokens.slice(1);
            by = event.by;
          }
          if (event.type === 'verify') verify = event;
          if (event.type === 'kernels' && event.round > 0 && !readsDrafts(variant)) {
            expect({ submits: event.submits, readbacks: event.readbacks }).toEqual({ submits: 1, readbacks: 1 });
            expect(event.readback_bytes).toBeLessThanOrEqual(16 + 32 * 16);
          }
          if (event.type !== 'commit' || !verify?.probabilities) continue;
          const { probabilities, path } = verify;
          expect(probabilities).toHaveLength(drafts.length);
          for (const { target, draft } of probabilities) {
            expect(target >= 0 && target < 1.0001).toBe(true);
            // A look-up has no distribution.
            expect(by === 'lookup' ? draft === null : draft !== null && draft > 0 && draft < 1.0001).toBe(true);
          }
          // A kept draft is a committed token, whose log-probability is read from the target's own draw or its row.
          for (const [i, { logprob }] of (event.logprobs ?? []).slice(0, path.length - 1).entries()) {
            expect(probabilities[(path[i + 1] as number) - 1]?.target).toBeCloseTo(Math.exp(logprob), 4);
            kept++;
          }
          verify = undefined;
        }
        if (by !== 'lookup') expect(kept).toBeGreaterThan(3);
      }
    },
  );
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
    ['dflash-tiny', 'dflash', dflash],
    ['dflash-tiny-good', 'dflash', dflash],
    ['eagle3-tiny', 'eagle3', eagle3],
    ['eagle3-tiny-good', 'eagle3', eagle3],
  ] as const)('%s drafts, keeps and writes what the reference loop does', async (name, role, system) => {
    const { prefix, runs } = readGolden(name) as unknown as { prefix: number[]; runs: ReferenceRun[] };
    const engine = await golden(name, role);
    for (const { block_size, draft_depth, tokens, acceptance_lengths, drafts } of runs) {
      const knobs: Record<string, KnobValue> = block_size
        ? { 'block-size': block_size }
        : { shape: 'chain', depth: draft_depth ?? 0 };
      const request = { prompt: { tokens: prefix }, maxTokens: tokens.length, ignoreEos: true };
      const events = await collect(engine, { ...request, ...requestOf({ system, knobs }) });
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
      const request = { prompt: { tokens: prefix }, maxTokens: 30, ignoreEos: true };
      const events = await collect(engine, { ...request, ...requestOf({ system: eagle3, knobs }) });
      expect(committedTokens(events)).toEqual(run?.tokens);
      expect(measure(events).tokens_per_round).toBeGreaterThan(2);
    }
    await engine.close();
  });
});

describe.skipIf(noShared).each(FULL ? (['q4', 'f32'] as const) : (['q4'] as const))('SmolLM2 at %s', (precision) => {
  const comparison = new BaselineComparison(async () => smollm2Engine(await testGpu(), precision));
  afterAll(() => comparison.close());

  it.each(SMOLLM2_VARIANTS)('$name writes the tokens of plain decoding', PATIENCE, async (variant) => {
    const request = { maxTokens: FULL ? 64 : 24, ignoreEos: true };
    expect(await comparison.differences(variant, questions(FULL ? 10 : 1), request)).toBe(0);
  });
});

it('every exact system is compared with its baseline, at some precision', () => {
  const ids = (variants: typeof EXACT_VARIANTS) => [...new Set(variants.map(({ system }) => system.id))];
  expect(ids(atPrecision(0))).toEqual(ids(EXACT_VARIANTS.filter(({ system }) => !system.joins)));
  expect(ids(atPrecision(1))).toEqual(ids(EXACT_VARIANTS));
  expect(EXACT_VARIANTS.some(({ system }) => system.joins)).toBe(true);
  expect(EXACT_VARIANTS.map(({ system }) => baselineOf(system).id)).toContain('ensemble');
});
