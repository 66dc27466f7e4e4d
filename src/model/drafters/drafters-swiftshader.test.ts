// The golden drafters on Chromium's software adapter: other rounding, the same drafts and acceptance lengths.
import { describe, test } from 'vitest';
import { noSwiftShader, swiftShaderGpu } from '../../testing/device/swiftshader.ts';
import { checkDFlash } from '../../testing/goldens/golden-dflash.ts';
import { checkEagle3 } from '../../testing/goldens/golden-eagle3.ts';
import { noShared } from '../../testing/goldens/shared.ts';

describe.skipIf(noShared || noSwiftShader)('on SwiftShader', { timeout: 600_000 }, () => {
  test('DFlash', async () => {
    await checkDFlash(await swiftShaderGpu(), 'dflash-tiny-good');
  });

  test('EAGLE-3', async () => {
    await checkEagle3(await swiftShaderGpu(), 'eagle3-tiny-good');
  });
});
