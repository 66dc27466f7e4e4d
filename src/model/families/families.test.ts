// What holds for every family; that of one is tested next to its file.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { attention, type Json, LLAMA, message, QWEN3, QWEN35 } from '../../testing/toys/family-configs.ts';
import { type Block, weightSpecs } from '../architecture.ts';
import { readArchitecture, readScored } from './families.ts';

describe.skipIf(noShared)('both published layouts', () => {
  test.each([
    'llama-tiny',
    'qwen2-tiny',
    'qwen3-tiny',
    'lfm2-tiny',
    'gemma3-tiny',
    'gemma2-tiny',
    'phi3-tiny',
    'phi3-longrope-tiny',
    'smollm3-tiny',
    'granite-tiny',
    'olmo2-tiny',
  ])('%s: transformers 4 and 5 read alike', (name) => {
    const read = (file: string) => readArchitecture(JSON.parse(readFileSync(shared('golden', name, file), 'utf8')));
    expect(read('config.v4.json')).toEqual(read('config.json'));
  });

  test('llama-tiny', () => {
    const json = JSON.parse(readFileSync(shared('golden', 'llama-tiny', 'config.json'), 'utf8'));
    const { sizes, blocks, head, norm } = readArchitecture(json);
    expect(sizes).toEqual({
      layers: 3,
      hidden: 96,
      heads: 6,
      keyValueHeads: 2,
      headDim: 16,
      paddedHead: 16,
      feedForward: 160,
      vocabulary: 320,
      context: 512,
    });
    expect([head, norm.epsilon, blocks.length]).toEqual(['tied', 1e-5, 3]);
    expect(attention(blocks[0] as Block).rope).toEqual({
      base: 10000,
      dimensions: 16,
      scaling: { type: 'llama3', factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContext: 64 },
    });
  });
});

test('the checklist: names and shapes, biases and norms where the family has them', () => {
  const find = (config: Json, checkpoint: string) =>
    weightSpecs(readArchitecture(config)).find((spec) => spec.checkpoint === checkpoint)?.shape;
  expect(find(QWEN3, 'model.layers.3.self_attn.q_proj.weight')).toEqual([192, 96]);
  expect(find(QWEN3, 'model.layers.0.self_attn.k_norm.weight')).toEqual([32]);
  expect(find(QWEN3, 'model.layers.0.self_attn.k_proj.bias')).toBeUndefined();
  expect(find(QWEN3, 'lm_head.weight')).toBeUndefined();
  expect(find({ ...QWEN3, tie_word_embeddings: false }, 'lm_head.weight')).toEqual([320, 96]);
  expect(find({ ...LLAMA, attention_bias: true }, 'model.layers.1.self_attn.o_proj.bias')).toEqual([96]);
  expect(find({ ...LLAMA, mlp_bias: true }, 'model.layers.1.mlp.up_proj.bias')).toEqual([160]);
  expect(find({ ...LLAMA, mlp_bias: true }, 'model.layers.1.mlp.down_proj.bias')).toEqual([96]);
  expect(find(LLAMA, 'model.layers.1.mlp.down_proj.bias')).toBeUndefined();
  const qwen2 = { ...LLAMA, architectures: ['Qwen2ForCausalLM'] };
  expect(find(qwen2, 'model.layers.1.self_attn.v_proj.bias')).toEqual([32]);
  expect(find(qwen2, 'model.layers.1.self_attn.o_proj.bias')).toBeUndefined();
});

test.each(['Exaone4', 'Gemma2', 'Mistral', 'Olmo2', 'Phi3', 'Qwen2', 'Qwen3', 'Qwen3_5'])(
  '%s may say that it has no biases',
  (family) => {
    const silent: Json = { ...LLAMA, head_dim: 16, architectures: [`${family}ForCausalLM`] };
    const plain = readArchitecture(silent);
    expect(readArchitecture({ ...silent, attention_bias: false, mlp_bias: false })).toEqual(plain);
    expect(message({ ...silent, mlp_bias: true })).toContain('mlp_bias = true is not supported');
  },
);

test('biases of queries and keys: Mistral has none, Qwen2 has them whatever its config says', () => {
  const biased = { ...LLAMA, attention_bias: true };
  expect(message({ ...biased, architectures: ['MistralForCausalLM'] })).toContain('attention_bias = true');
  const qwen2 = readArchitecture({ ...biased, architectures: ['Qwen2ForCausalLM'] });
  expect(attention(qwen2.blocks[0] as Block).bias).toEqual({ queryKeyValue: true, output: false });
});

test('swish is silu', () => {
  expect(readArchitecture({ ...LLAMA, hidden_act: 'swish' })).toEqual(readArchitecture(LLAMA));
});

test('architectures and model_type that name two families are refused', () => {
  const other = message({ ...LLAMA, model_type: 'mistral' });
  expect(other).toContain('architectures LlamaForCausalLM and model_type mistral disagree');
  expect(message({ ...LLAMA, architectures: ['Gemma3ForCausalLM'], model_type: 'gemma2' })).toContain('model_type');
  const gemma3 = { ...LLAMA, hidden_act: undefined, architectures: ['Gemma3ForCausalLM'], model_type: 'gemma3_text' };
  expect(readArchitecture(gemma3).family).toBe('gemma3');
  expect(readArchitecture({ ...QWEN35, model_type: 'qwen3_5_text' }).family).toBe('qwen3_5');
  expect(readArchitecture({ ...LLAMA, model_type: 'llama' }).family).toBe('llama');
  expect(readArchitecture({ ...LLAMA, model_type: 'a_name_of_its_own' }).family).toBe('llama');
});

test('without architectures model_type counts', () => {
  const { architectures: _, ...silent } = LLAMA;
  expect(readArchitecture({ ...silent, model_type: 'qwen2' }).family).toBe('qwen2');
  expect(readArchitecture({ ...silent, hidden_act: undefined, model_type: 'gemma3_text' }).family).toBe('gemma3');
  expect(message(silent)).toContain('config.json names no architecture');
  expect(message({ ...silent, model_type: 'gpt_oss' })).toContain('config.json names no architecture');
});

test('what is not run is told by its kind; quantised weights by how they were quantised', () => {
  expect(message({ architectures: ['GptOssForCausalLM'] })).toContain('is not supported: it is a mixture of experts');
  const inside = { architectures: ['NewForCausalLM'], text_config: { num_experts: 8 } };
  expect(message(inside)).toContain('is not supported: it is a mixture of experts');
  expect(message({ ...LLAMA, quantization_config: { quant_method: 'awq', bits: 4 } })).toContain('quantised by awq');
  expect(message({ ...LLAMA, quantization: { group_size: 64, bits: 4 } })).toContain('quantised to 4 bits');
  expect(readArchitecture({ ...LLAMA, quantization_config: null }).family).toBe('llama');
});

test('a silent config means what the configuration class of its family means', () => {
  const { rms_norm_eps: _, ...silent } = LLAMA;
  const epsilon = (family: string) =>
    readArchitecture({ ...silent, architectures: [`${family}ForCausalLM`] }).norm.epsilon;
  expect([epsilon('Llama'), epsilon('Olmo2'), epsilon('Phi3')]).toEqual([1e-6, 1e-5, 1e-5]);
  expect(readArchitecture({ ...LLAMA, architectures: ['Qwen3ForCausalLM'] }).sizes.headDim).toBe(128);
  const { rope_parameters: __, ...qwen35 } = QWEN35;
  expect(attention(readArchitecture(qwen35).blocks[3] as Block).rope?.base).toBe(10_000);
});

test("a judge's scores are neither scaled nor capped as its family's logits are", () => {
  const of = (family: string, fields: Json) =>
    readScored({ ...LLAMA, ...fields, architectures: [`${family}ForTokenClassification`] }).logits;
  expect(of('Granite', { logits_scaling: 8 })).toEqual({ scale: 1, softCap: null });
  expect(of('Gemma2', { hidden_act: undefined, head_dim: 16 })).toEqual({ scale: 1, softCap: null });
});
