// The second adapter: other subgroups, no f16, another `exp`. Plain decoding and speculation must agree there too.
import { afterAll, describe, expect, it } from 'vitest';
import {
  bundledEngine,
  differences,
  FULL,
  NONE,
  problems,
  questions,
  SMOLLM2_WAYS,
  smollm2Engine,
  WAYS,
} from '../testing/contract/device-contract.ts';
import { noSwiftShader, swiftShaderGpu } from '../testing/device/swiftshader.ts';
import { noShared } from '../testing/goldens/shared.ts';

afterAll(async () => {
  if (!noSwiftShader) (await swiftShaderGpu()).destroy();
});

describe.skipIf(noSwiftShader).each(['f32', 'q4'] as const)('the bundled family at %s on SwiftShader', (precision) => {
  const prompts = FULL ? 50 : 2;
  it(`writes the tokens of plain decoding: ${prompts} prompts`, { timeout: FULL ? 3_600_000 : 900_000 }, async () => {
    const engine = await bundledEngine(await swiftShaderGpu(), precision);
    const request = { maxTokens: FULL ? 64 : 32, ignoreEos: true };
    expect(await differences(engine, WAYS, problems(prompts), request)).toEqual(NONE(WAYS));
    await engine.close();
  });
});

// Half an hour here: SwiftShader writes three or four of its tokens a second.
describe.skipIf(noSwiftShader || noShared || !FULL).each(['q4', 'f32'] as const)(
  'SmolLM2 at %s on SwiftShader',
  (precision) => {
    it('writes the tokens of plain decoding: 10 prompts', { timeout: 3_600_000 }, async () => {
      const engine = await smollm2Engine(await swiftShaderGpu(), precision);
      const request = { maxTokens: 64, ignoreEos: true };
      expect(await differences(engine, SMOLLM2_WAYS, questions(10), request)).toEqual(NONE(SMOLLM2_WAYS));
      await engine.close();
    });
  },
);
