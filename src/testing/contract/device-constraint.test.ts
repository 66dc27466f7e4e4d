// Constraints on real models and a real adapter: every speculative system writes the tokens of constrained plain decoding,
// greedy and sampled, and forced text costs no pass of its own.
import { afterAll, describe, expect, it } from 'vitest';
import type { Constraint } from '../../constraint/constraint.ts';
import { type EventOf, measure } from '../../trace/index.ts';
import { testGpu } from '../device/gpu.ts';
import { BaselineComparison, bundledEngine, collect, EXACT_VARIANTS, FULL, problems } from './device-contract.ts';
import { isSpeculative } from './exact-systems.ts';

const PATIENCE = { timeout: FULL ? 3_600_000 : 900_000 };

const SCHEMA: Constraint = {
  json_schema: {
    type: 'object',
    properties: { result: { type: 'integer', minimum: 0, maximum: 99 }, unit: { enum: ['apples', 'books', 'coins'] } },
    required: ['result', 'unit'],
  },
};
const REGEX: Constraint = { regex: '[A-Z][a-z]+ (has|gives|buys) \\d+ [a-z]+\\.( [A-Za-z0-9 ]+\\.){0,3}' };

afterAll(async () => (await testGpu()).destroy());

describe('the bundled family under a constraint', () => {
  const comparison = new BaselineComparison(async () => bundledEngine(await testGpu(), 'q8'));
  afterAll(() => comparison.close());

  const variants = EXACT_VARIANTS.filter(({ system }) => system.group === 'speculative' && isSpeculative(system));
  it.each(variants)('$name writes the tokens of constrained plain decoding', PATIENCE, async (variant) => {
    for (const constraint of [SCHEMA, REGEX])
      for (const sampling of [{}, { temperature: 0.9, topP: 0.95, seed: 5 }])
        expect(
          await comparison.differences(variant, problems(FULL ? 20 : 1), { maxTokens: 40, constraint, ...sampling }),
        ).toBe(0);
  });

  it('forced text costs no pass of its own, and a draw among the allowed tokens one more readback', async () => {
    const engine = await comparison.engine();
    const [prompt = { tokens: [1] }] = problems(1);
    const events = await collect(engine, { prompt, constraint: SCHEMA, maxTokens: 60 });
    const done = events.at(-1) as EventOf<'done'>;
    expect(JSON.parse(done.text ?? '')).toEqual({ result: expect.any(Number), unit: expect.any(String) });
    const { passes, tokens, readbacks, rounds } = measure(events);
    expect(done.constraint).toMatchObject({ valid: true });
    const { forced, masked } = done.constraint as NonNullable<typeof done.constraint>;
    expect(forced).toBeGreaterThan(5);
    expect(passes).toBeLessThanOrEqual(tokens - forced + 1);
    expect(readbacks).toBeLessThanOrEqual(rounds + 1 + masked);
  });
});
