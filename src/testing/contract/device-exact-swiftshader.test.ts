// The second adapter has other subgroups, no f16, and another `exp`. Exact systems must write their baseline's tokens
// there too.
import { afterAll, describe, expect, it } from 'vitest';
import { noSwiftShader, swiftShaderGpu } from '../device/swiftshader.ts';
import { noShared } from '../goldens/shared.ts';
import {
  BaselineComparison,
  bundledEngine,
  EXACT_VARIANTS,
  FULL,
  problems,
  questions,
  SMOLLM2_VARIANTS,
  smollm2Engine,
} from './device-contract.ts';
import { isSpeculative } from './exact-systems.ts';

const PATIENCE = { timeout: FULL ? 3_600_000 : 900_000 };

afterAll(async () => {
  if (!noSwiftShader) (await swiftShaderGpu()).destroy();
});

/** Products with weights at q4 have a test on this adapter of their own: matmul-swiftshader.test.ts. */
const PRECISIONS = FULL ? (['f32', 'q4'] as const) : (['f32'] as const);

describe.skipIf(noSwiftShader).each(PRECISIONS)('the bundled family at %s on SwiftShader', (precision) => {
  const comparison = new BaselineComparison(async () => bundledEngine(await swiftShaderGpu(), precision));
  afterAll(() => comparison.close());

  // CI has no time for ensembles here: SwiftShader writes three or four tokens of the target a second.
  const variants = FULL ? EXACT_VARIANTS : EXACT_VARIANTS.filter(({ system }) => isSpeculative(system));
  it.each(variants)('$name writes the tokens of its baseline', PATIENCE, async (variant) => {
    const request = { maxTokens: FULL ? 64 : 32, ignoreEos: true };
    expect(await comparison.differences(variant, problems(FULL ? 50 : 2), request)).toBe(0);
  });
});

// This takes half an hour.
describe.skipIf(noSwiftShader || noShared || !FULL).each(['q4', 'f32'] as const)(
  'SmolLM2 at %s on SwiftShader',
  (precision) => {
    const comparison = new BaselineComparison(async () => smollm2Engine(await swiftShaderGpu(), precision));
    afterAll(() => comparison.close());

    it.each(SMOLLM2_VARIANTS)('$name writes the tokens of plain decoding', PATIENCE, async (variant) => {
      const request = { maxTokens: 64, ignoreEos: true };
      expect(await comparison.differences(variant, questions(10), request)).toBe(0);
    });
  },
);
