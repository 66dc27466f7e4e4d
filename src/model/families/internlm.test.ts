import { expect, test } from 'vitest';
import { LLAMA, message } from '../../testing/toys/family-configs.ts';
import { readArchitecture } from './families.ts';

test('InternLM3 is LLaMA, with biases everywhere or nowhere', () => {
  const internlm3 = { ...LLAMA, architectures: ['InternLM3ForCausalLM'], head_dim: 16, qkv_bias: false, bias: false };
  expect(readArchitecture(internlm3).blocks).toEqual(readArchitecture(LLAMA).blocks);
  const biased = readArchitecture({ ...internlm3, qkv_bias: true, bias: true });
  expect(biased.blocks).toEqual(readArchitecture({ ...LLAMA, attention_bias: true, mlp_bias: true }).blocks);
  expect(message({ ...internlm3, qkv_bias: true })).toContain('bias = false is not supported');
  const saved = { ...LLAMA, model_type: 'internlm3', head_dim: undefined, attention_bias: true, mlp_bias: true };
  expect(readArchitecture(saved)).toMatchObject({ family: 'internlm3', sizes: { headDim: 128 } });
});
