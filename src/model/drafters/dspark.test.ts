// DSpark drafters of every kind and layout against the authors' code.
import { describe, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { checkDSpark } from '../../testing/goldens/golden-dspark.ts';
import { noShared } from '../../testing/goldens/shared.ts';

describe.skipIf(noShared)('DSpark', () => {
  test.each(['dspark-tiny', 'dspark-tiny-good', 'dspark-tiny-gated', 'dspark-tiny-rnn', 'dspark-tiny-speculators'])(
    '%s',
    async (name) => {
      await checkDSpark(await testGpu('all'), name);
    },
  );

  test('dspark-tiny-rnn, baseline features', async () => {
    await checkDSpark(await testGpu('baseline'), 'dspark-tiny-rnn');
  });
});
