import { expect, test } from 'vitest';
import { QWEN3 } from '../../testing/toys/family-configs.ts';
import { readDrafter } from './families.ts';

test('a drafter of blocks may say that its feed-forward part has no biases', () => {
  const drafter = { ...QWEN3, architectures: ['DFlashDraftModel'], block_size: 4, dflash_config: { mask_token_id: 1 } };
  expect(readDrafter({ ...drafter, mlp_bias: false }).architecture).toEqual(readDrafter(drafter).architecture);
  expect(() => readDrafter({ ...drafter, mlp_bias: true })).toThrow('mlp_bias = true is not supported');
});

test('a drafter of the authors’ layout may keep fields of its target, which mean nothing there', () => {
  const drafter = {
    ...QWEN3,
    architectures: ['Qwen3DSparkModel'],
    ...{ block_size: 4, target_layer_ids: [1], mask_token_id: 1, markov_rank: 2 },
  };
  const experts = { num_experts: 128, num_experts_per_tok: 8, norm_topk_prob: true, mlp_only_layers: [] };
  const delta = {
    full_attention_interval: 4,
    linear_num_key_heads: 16,
    attn_output_gate: true,
    mtp_num_hidden_layers: 1,
  };
  expect(readDrafter({ ...drafter, ...experts, ...delta }).architecture).toEqual(readDrafter(drafter).architecture);
  expect(() => readDrafter({ ...drafter, final_logit_softcapping: 30 })).toThrow('unknown field');
});
