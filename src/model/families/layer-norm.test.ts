import { describe, expect, test } from 'vitest';
import { attention, type Json, LLAMA, message, windows } from '../../testing/toys/family-configs.ts';
import { tensorSpecs, weightSpecs } from '../architecture.ts';
import { readArchitecture } from './families.ts';

describe('families with LayerNorm', () => {
  const GPT2: Json = {
    architectures: ['GPT2LMHeadModel'],
    model_type: 'gpt2',
    activation_function: 'gelu_new',
    layer_norm_epsilon: 1e-5,
    n_ctx: 64,
    n_embd: 96,
    n_head: 4,
    n_layer: 2,
    n_positions: 64,
    summary_type: 'cls_index',
    task_specific_params: { 'text-generation': { do_sample: true } },
    vocab_size: 320,
  };
  const { num_key_value_heads: _, rms_norm_eps: __, hidden_act: ___, ...rest } = LLAMA;
  const of = (family: string, fields: Json = {}): Json => ({
    ...rest,
    architectures: [`${family}ForCausalLM`],
    layer_norm_eps: 1e-5,
    tie_word_embeddings: false,
    ...fields,
  });
  const shapes = (config: Json) =>
    new Map(tensorSpecs(readArchitecture(config)).map(({ checkpoint, shape }) => [checkpoint, shape]));

  test('GPT-2: tensors with a row for each input, learned positions, a tied head; names with and without a prefix', () => {
    const tensors = shapes(GPT2);
    expect(tensors.get('transformer.h.1.attn.c_attn.weight')).toEqual([96, 288]);
    expect(tensors.get('transformer.h.1.mlp.c_proj.weight')).toEqual([384, 96]);
    expect(tensors.get('transformer.wpe.weight')).toEqual([64, 96]);
    expect(tensors.size).toBe(2 * 12 + 4);
    const bare = readArchitecture(GPT2, new Set(['wte.weight']));
    expect(tensorSpecs(bare).map(({ checkpoint }) => `transformer.${checkpoint}`)).toEqual([...tensors.keys()]);
    expect(bare).toMatchObject({ head: 'tied', sizes: { context: 64 }, blocks: { 0: { mixer: { rope: null } } } });
  });

  test('GPT-NeoX: heads of queries, keys and values in turn, and parallel parts with a norm each', () => {
    const neox = of('GPTNeoX', { rotary_pct: 0.5, rotary_emb_base: 500, attention_probs_dropout_prob: 0.1 });
    const [block] = readArchitecture(neox).blocks;
    expect(block).toMatchObject({ parallel: 'own norm', feedForward: { kind: 'plain', activation: 'exact-gelu' } });
    expect(block?.mixer).toMatchObject({ rope: { base: 500, dimensions: 8 } });
    const keys = weightSpecs(readArchitecture(neox)).find(({ name }) => name === 'key');
    expect(keys?.stripes).toEqual({ rows: 16, from: 16, of: 48 });
    expect(shapes(neox).get('gpt_neox.layers.0.attention.query_key_value.bias')).toEqual([288]);
    expect(readArchitecture({ ...neox, use_parallel_residual: false }).blocks[0]?.parallel).toBeUndefined();
  });

  test('Phi and StableLM: parallel parts with one norm', () => {
    const tensors = shapes(of('Phi'));
    expect(tensors.get('lm_head.bias')).toEqual([320]);
    expect(tensors.has('model.layers.0.post_attention_layernorm.weight')).toBe(false);
    expect(shapes(of('StableLm', { num_key_value_heads: 6 })).has('model.layers.0.post_attention_layernorm.bias')).toBe(
      true,
    );
    const parallel = shapes(
      of('StableLm', { num_key_value_heads: 6, use_parallel_residual: true, use_qkv_bias: true }),
    );
    expect(parallel.has('model.layers.0.post_attention_layernorm.bias')).toBe(false);
    expect(parallel.has('model.layers.0.self_attn.q_proj.bias')).toBe(true);
  });

  test('StarCoder2 and Command R', () => {
    const { layer_norm_eps: epsilon, ...starcoder } = of('Starcoder2', { norm_epsilon: 1e-4, sliding_window: 7 });
    expect(windows(starcoder)).toEqual([7, 7, 7, 7]);
    expect(readArchitecture(starcoder).norm).toEqual({ kind: 'layer', epsilon: 1e-4, bias: true });
    expect(message({ ...starcoder, layer_norm_eps: epsilon })).toContain('unknown field layer_norm_eps');
    const command = of('Cohere2', { sliding_window: 7, sliding_window_pattern: 2, logit_scale: 0.25 });
    expect(readArchitecture(command).blocks.map((block) => attention(block).rope !== null)).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(readArchitecture(command)).toMatchObject({ logits: { scale: 0.25 }, norm: { bias: false } });
  });

  test.each([
    [{ ...GPT2, scale_attn_by_inverse_layer_idx: true }, 'scale_attn_by_inverse_layer_idx = true is not supported'],
    [{ ...GPT2, add_cross_attention: true }, 'add_cross_attention = true is not supported'],
    [{ ...GPT2, activation_function: 'relu' }, 'activation_function = relu is not supported'],
    [{ ...GPT2, n_latent: 3 }, 'unknown field n_latent'],
    [of('GPTNeoX', { hidden_act: 'silu' }), 'hidden_act = silu is not supported'],
    [of('Phi', { qk_layernorm: true }), 'qk_layernorm = true is not supported'],
    [of('StableLm', { qk_layernorm: true }), 'qk_layernorm = true is not supported'],
    [of('Starcoder2', { mlp_type: 'gated' }), 'mlp_type = "gated" is not supported'],
    [of('Cohere', { use_qk_norm: true }), 'use_qk_norm = true is not supported'],
    [of('Cohere2', { use_parallel_block: false }), 'use_parallel_block = false is not supported'],
  ])('%j is refused', (config, expected) => {
    expect(message(config)).toContain(expected);
  });
});
