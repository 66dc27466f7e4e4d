// DFlash drafters against the authors' code.
import { describe, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { checkDFlash } from '../../testing/goldens/golden-dflash.ts';
import { noShared } from '../../testing/goldens/shared.ts';

describe.skipIf(noShared).each(['all', 'baseline'] as const)('DFlash, %s features', (features) => {
  test.each(['dflash-tiny', 'dflash-tiny-good'])('%s', async (name) => {
    await checkDFlash(await testGpu(features), name);
  });
});
