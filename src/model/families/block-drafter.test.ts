import { expect, test } from 'vitest';
import { QWEN3 } from '../../testing/toys/family-configs.ts';
import { readDrafter } from './families.ts';

test('a drafter of blocks may say that its feed-forward part has no biases', () => {
  const drafter = { ...QWEN3, architectures: ['DFlashDraftModel'], block_size: 4, dflash_config: { mask_token_id: 1 } };
  expect(readDrafter({ ...drafter, mlp_bias: false }).architecture).toEqual(readDrafter(drafter).architecture);
  expect(() => readDrafter({ ...drafter, mlp_bias: true })).toThrow('mlp_bias = true is not supported');
});
