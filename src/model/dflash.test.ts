// DFlash drafters against the authors' code.
import { describe, test } from 'vitest';
import { checkDFlash } from '../testing/golden-dflash.ts';
import { testGpu } from '../testing/gpu.ts';
import { noShared } from '../testing/shared.ts';

describe.skipIf(noShared).each(['all', 'baseline'] as const)('DFlash, %s features', (features) => {
  test.each(['dflash-tiny', 'dflash-tiny-good'])('%s', async (name) => {
    await checkDFlash(await testGpu(features), name);
  });
});
