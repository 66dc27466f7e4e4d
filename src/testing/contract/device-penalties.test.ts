// Biases, penalties and bans on real models and a real adapter: every speculative system writes the tokens of plain decoding
// under the same rules, and plain decoding without rules pays nothing for them.
import { afterAll, describe, expect, it } from 'vitest';
import type { RunRequest } from '../../engine/request.ts';
import { committedTokens } from '../../trace/index.ts';
import { testGpu } from '../device/gpu.ts';
import { BaselineComparison, bundledEngine, collect, EXACT_VARIANTS, FULL, problems } from './device-contract.ts';
import { isSpeculative } from './exact-systems.ts';

const PATIENCE = { timeout: FULL ? 3_600_000 : 900_000 };

const RULES: Omit<RunRequest, 'prompt'> = {
  repetitionPenalty: 2.5,
  presencePenalty: 1.3,
  frequencyPenalty: 0.7,
  logitBias: { 26: -100, 31: 2 },
  minTokens: 30,
  badWords: ['The answer', 'has'],
};

afterAll(async () => (await testGpu()).destroy());

describe('the bundled family under rules for its logits', () => {
  const comparison = new BaselineComparison(async () => bundledEngine(await testGpu(), 'q8'));
  afterAll(() => comparison.close());

  const variants = EXACT_VARIANTS.filter(({ system }) => system.group === 'speculative' && isSpeculative(system));
  it.each(variants)('$name writes the tokens of plain decoding', PATIENCE, async (variant) => {
    const samplings = [{}, ...(variant.drawn ? [] : [{ temperature: 0.9, topP: 0.95, seed: 5 }])];
    for (const sampling of samplings)
      expect(
        await comparison.differences(variant, problems(FULL ? 20 : 1), { maxTokens: 40, ...RULES, ...sampling }),
      ).toBe(0);
  });

  it('changes what is written, and keeps to least length and bad words', async () => {
    const engine = await comparison.engine();
    const [prompt = { tokens: [1] }] = problems(1);
    const plain = await collect(engine, { prompt, maxTokens: 40 });
    const events = await collect(engine, { prompt, maxTokens: 40, ...RULES });
    expect(committedTokens(events)).not.toEqual(committedTokens(plain));
    expect(committedTokens(plain)).toContain(26);
    expect(committedTokens(events)).not.toContain(26);
    expect(committedTokens(events).length).toBeGreaterThanOrEqual(30);
    const done = events.at(-1);
    expect(done?.type === 'done' && done.text).not.toContain('The answer');
    const forced = await collect(engine, { prompt, maxTokens: 3, logitBias: { 30: 100 } });
    expect(committedTokens(forced)).toEqual([30, 30, 30]);
  });
});
