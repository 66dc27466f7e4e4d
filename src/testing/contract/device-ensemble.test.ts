// Ensembles of two and three real models: at temperature 0 every ensemble system writes the tokens of the plain one,
// and its rounds take one submit and one readback.
import { afterAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../engine/engine.ts';
import { committedTokens, type EventOf } from '../../trace/index.ts';
import { testGpu } from '../device/gpu.ts';
import {
  BaselineComparison,
  bundledSource,
  collect,
  EXACT_VARIANTS,
  FULL,
  loadEngine,
  problems,
  requestOf,
} from './device-contract.ts';

const TOKENS = FULL ? 48 : 32;
const VARIANTS = EXACT_VARIANTS.filter(({ system }) => system.joins);

afterAll(async () => (await testGpu()).destroy());

describe.each([2, 3])('%i bundled models', (count) => {
  const comparison = new BaselineComparison(async (): Promise<Engine> => {
    const [target, draft, mid] = await Promise.all([
      bundledSource('target'),
      bundledSource('draft'),
      bundledSource('mid'),
    ]);
    const sources = count === 2 ? { target, draft } : { target, 'also-1': mid, 'also-2': draft };
    return loadEngine(await testGpu(), sources, 'q8');
  });
  afterAll(() => comparison.close());

  it.each(VARIANTS)('$name writes the tokens of the plain ensemble', { timeout: 600_000 }, async (variant) => {
    const request = { maxTokens: TOKENS, ignoreEos: true };
    expect(await comparison.differences(variant, problems(FULL ? 50 : 2), request)).toBe(0);
  });

  it.each(VARIANTS)('$name commits a token or more a round, with one readback', async (variant) => {
    const [prompt = { tokens: [1] }] = problems(1);
    const request = { ...requestOf(variant), prompt, maxTokens: TOKENS, ignoreEos: true };
    const events = await collect(await comparison.engine(), request);
    expect(committedTokens(events)).toHaveLength(TOKENS);
    const work = events.filter((event): event is EventOf<'kernels'> => event.type === 'kernels' && event.round > 0);
    expect(work.length).toBeLessThan(TOKENS);
    for (const { submits, readbacks, readback_bytes } of work) {
      expect({ submits, readbacks }).toEqual({ submits: 1, readbacks: 1 });
      expect(readback_bytes).toBeLessThan(1000);
    }
  });
});
