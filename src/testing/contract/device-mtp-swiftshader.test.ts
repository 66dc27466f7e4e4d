// MTP on the second adapter, which rounds otherwise.
import { afterAll, describe, expect, it } from 'vitest';
import { noSwiftShader, swiftShaderGpu } from '../device/swiftshader.ts';
import { BaselineComparison } from './device-contract.ts';
import { MTP_PROMPTS, MTP_VARIANTS, mtpEngine } from './mtp-contract.ts';

describe.skipIf(noSwiftShader)('on SwiftShader', () => {
  const comparison = new BaselineComparison(async () => mtpEngine(await swiftShaderGpu(), 'f32', 'f32'));
  afterAll(async () => {
    await comparison.close();
    (await swiftShaderGpu()).destroy();
  });

  it.each(MTP_VARIANTS)('$name writes the tokens of plain decoding', { timeout: 900_000 }, async (variant) => {
    expect(await comparison.differences(variant, MTP_PROMPTS, { maxTokens: 24, ignoreEos: true })).toBe(0);
  });
});
