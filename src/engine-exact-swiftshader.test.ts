// The second adapter: other subgroups, no f16, another `exp`. Plain decoding and speculation must agree there too.
import { afterAll, describe, expect, it } from 'vitest';
import { bundledEngine, differences, FULL, NONE, problems, WAYS } from './testing/device-contract.ts';
import { noSwiftShader, swiftShaderGpu } from './testing/swiftshader.ts';

afterAll(async () => {
  if (!noSwiftShader) (await swiftShaderGpu()).destroy();
});

describe.skipIf(noSwiftShader).each(['f32', 'q4'] as const)('the bundled family at %s on SwiftShader', (precision) => {
  const prompts = FULL ? 50 : 2;
  it(`writes the tokens of plain decoding: ${prompts} prompts`, { timeout: FULL ? 3_600_000 : 240_000 }, async () => {
    const engine = await bundledEngine(await swiftShaderGpu(), precision);
    const request = { maxTokens: FULL ? 64 : 32, ignoreEos: true };
    expect(await differences(engine, WAYS, problems(prompts), request)).toEqual(NONE(WAYS));
    await engine.close();
  });
});
