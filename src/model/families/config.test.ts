import { expect, test } from 'vitest';
import { LFM2, LLAMA, message, QWEN35 } from '../../testing/toys/family-configs.ts';
import { readArchitecture } from './families.ts';

test.each([
  [{ hidden_act: 'gelu' }, 'hidden_act = "gelu" is not supported'],
  [{ mlp_bias: 1 }, 'mlp_bias is 1, expected true or false'],
  [{ partial_rotary_factor: 0.5 }, 'partial_rotary_factor = 0.5 is not supported'],
  [{ final_logit_softcapping: 30 }, 'unknown field final_logit_softcapping = 30'],
  [{ sliding_window: 64 }, 'unknown field sliding_window'],
  [{ num_experts: 8 }, 'unknown field num_experts'],
  [{ rms_norm_eps: -1e-6 }, 'rms_norm_eps is -0.000001, expected a positive number'],
  [{ rope_theta: 0 }, 'rope_theta is 0, expected a positive number'],
  [{ rope_scaling: { rope_type: 'linear', factor: 0 } }, 'factor is 0, expected a positive number'],
  [{ hidden_size: undefined }, 'hidden_size is missing'],
  [{ hidden_size: -1 }, 'hidden_size is -1'],
  [{ hidden_size: '96' }, 'hidden_size is "96"'],
  [{ num_key_value_heads: 4 }, 'num_attention_heads 6 is not a multiple of num_key_value_heads 4'],
  [{ head_dim: 15 }, 'rotates 15 of the 15 dimensions of a head'],
  [{ architectures: ['BloomForCausalLM'] }, 'architecture BloomForCausalLM is not supported'],
  [{ architectures: ['__proto__'] }, 'architecture __proto__ is not supported'],
] as const)('%j is refused by name', (change, expected) => {
  expect(message({ ...LLAMA, ...change })).toContain(expected);
});

// As transformers 5.23 has it in each family's configuration class.
test.each([
  ['LlamaForCausalLM', 160],
  ['MistralForCausalLM', 8],
  ['MinistralForCausalLM', 8],
  ['SmolLM3ForCausalLM', 4],
  ['Qwen2ForCausalLM', 32],
  ['Qwen3ForCausalLM', 32],
  ['Exaone4ForCausalLM', 32],
  ['HeliumForCausalLM', 20],
])('%s without num_key_value_heads has %d, and with null as many as queries', (architecture, expected) => {
  const { num_key_value_heads: _, ...rest } = LLAMA;
  const config = { ...rest, architectures: [architecture], num_attention_heads: 160, head_dim: 16 };
  expect(readArchitecture(config).sizes.keyValueHeads).toBe(expected);
  expect(readArchitecture({ ...config, num_key_value_heads: null }).sizes.keyValueHeads).toBe(160);
});

test('LFM2 without num_key_value_heads has 8, and Qwen3.5 has 4', () => {
  const without = { num_attention_heads: 160, head_dim: 16, num_key_value_heads: undefined };
  expect(readArchitecture({ ...LFM2, ...without }).sizes.keyValueHeads).toBe(8);
  expect(readArchitecture({ ...QWEN35, ...without }).sizes.keyValueHeads).toBe(4);
});

test('a field nested beyond what can be printed is refused by name', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
  expect(message({ ...LLAMA, hidden_size: deep })).toContain('hidden_size is [object Array], expected');
  expect(message({ ...LLAMA, hidden_act: deep })).toContain('hidden_act = [object Array] is not supported');
  expect(message({ ...LLAMA, num_experts: deep })).toContain('unknown field num_experts = [object Array]');
});

test('fields that change nothing, and nulls, are let through', () => {
  readArchitecture({ ...LLAMA, torch_dtype: 'bfloat16', pretraining_tp: 1, bos_token_id: 1, some_field: null });
  readArchitecture({ ...LLAMA, is_encoder_decoder: false, is_decoder: false, top_k: 50, temperature: 1 });
  expect(message({ ...LLAMA, is_encoder_decoder: true })).toContain('unknown field is_encoder_decoder = true');
  readArchitecture({ ...LLAMA, activation: 'swiglu' }); // Falcon 3
  readArchitecture({ ...LLAMA, chunk_size_feed_forward: 0, id2label: { 0: 'LABEL_0' }, label2id: { LABEL_0: 0 } });
});
