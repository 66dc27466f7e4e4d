// The configs of published checkpoints are read: their fields, as far as they are more than the tests of the families
// have, and what becomes of them.
import { describe, expect, test } from 'vitest';
import { type Json, message } from '../../testing/toys/family-configs.ts';
import { type Architecture, type Attention, ropesOf, tensorSpecs } from '../architecture.ts';
import { readArchitecture } from './families.ts';

const attention = ({ blocks }: Architecture, layer: number): Attention => blocks[layer]?.mixer as Attention;
const named = (architecture: string, rest: Json): Json => ({ architectures: [architecture], ...rest });

const GEMMA3_1B = named('Gemma3ForCausalLM', {
  attention_bias: false,
  attention_dropout: 0,
  attn_logit_softcapping: null,
  bos_token_id: 2,
  cache_implementation: 'hybrid',
  eos_token_id: [1, 106],
  final_logit_softcapping: null,
  head_dim: 256,
  hidden_activation: 'gelu_pytorch_tanh',
  hidden_size: 1152,
  initializer_range: 0.02,
  intermediate_size: 6912,
  max_position_embeddings: 32768,
  model_type: 'gemma3_text',
  num_attention_heads: 4,
  num_hidden_layers: 26,
  num_key_value_heads: 1,
  pad_token_id: 0,
  query_pre_attn_scalar: 256,
  rms_norm_eps: 1e-6,
  rope_local_base_freq: 10000,
  rope_scaling: null,
  rope_theta: 1000000,
  sliding_window: 512,
  sliding_window_pattern: 6,
  torch_dtype: 'bfloat16',
  transformers_version: '4.50.0.dev0',
  use_cache: true,
  vocab_size: 262144,
});

describe('Gemma', () => {
  test('3, 1B: five layers with a window and a RoPE of their own, then a global one', () => {
    const model = readArchitecture(GEMMA3_1B);
    expect(model.blocks.map((_, i) => attention(model, i).window).slice(0, 7)).toEqual([
      ...Array<number>(5).fill(512),
      null,
      512,
    ]);
    expect([0, 5].map((i) => attention(model, i).rope?.base)).toEqual([10_000, 1_000_000]);
    expect(ropesOf(model)).toHaveLength(2);
    expect(model).toMatchObject({ head: 'tied', norm: { offset: 1 }, input: { scale: Math.sqrt(1152) } });
    expect([attention(model, 0).scale, attention(model, 0).queryKeyNorm]).toEqual([1 / 16, 'head']);
    expect(model.blocks[0]).toMatchObject({ norms: 'both', feedForward: { activation: 'gelu' } });
  });

  test('3, 270M: layer_types, and the pattern under its later name', () => {
    const types = Array.from({ length: 18 }, (_, i) => (i % 6 === 5 ? 'full_attention' : 'sliding_attention'));
    const { sliding_window_pattern: _, cache_implementation: __, ...rest } = GEMMA3_1B;
    const fields = {
      num_hidden_layers: 18,
      hidden_size: 640,
      _sliding_window_pattern: 6,
      use_bidirectional_attention: false,
    };
    const listed = readArchitecture({ ...rest, ...fields, layer_types: types });
    expect(listed.blocks).toEqual(readArchitecture({ ...rest, ...fields }).blocks);
    expect(message({ ...rest, ...fields, use_bidirectional_attention: true })).toContain('use_bidirectional_attention');
  });

  test('3, 4B: the language model of a checkpoint that also sees images, whose config leaves much out', () => {
    const config = named('Gemma3ForConditionalGeneration', {
      boi_token_index: 255999,
      eoi_token_index: 256000,
      eos_token_id: [1, 106],
      image_token_index: 262144,
      initializer_range: 0.02,
      mm_tokens_per_image: 256,
      model_type: 'gemma3',
      text_config: {
        hidden_size: 2560,
        intermediate_size: 10240,
        model_type: 'gemma3_text',
        num_hidden_layers: 34,
        rope_scaling: { factor: 8, rope_type: 'linear' },
        sliding_window: 1024,
      },
      torch_dtype: 'bfloat16',
      transformers_version: '4.50.0.dev0',
      vision_config: { hidden_size: 1152, image_size: 896, model_type: 'siglip_vision_model' },
    });
    const model = readArchitecture(config);
    expect(model.sizes).toMatchObject({
      heads: 8,
      keyValueHeads: 4,
      headDim: 256,
      vocabulary: 262208,
      context: 131072,
    });
    expect(attention(model, 5).rope?.scaling).toEqual({ type: 'linear', factor: 8 });
    expect(attention(model, 0).rope?.scaling).toEqual({ type: 'default' });
    expect(model.otherParts).toContain('vision_tower.');
    for (const prefix of ['language_model.model.', 'model.language_model.']) {
      const tensors = new Set([`${prefix}embed_tokens.weight`]);
      const names = tensorSpecs(readArchitecture(config, tensors)).map(({ checkpoint }) => checkpoint);
      expect(names).toContain(`${prefix}layers.33.mlp.down_proj.weight`);
      expect(names.every((name) => name.startsWith(prefix))).toBe(true);
    }
    expect(message({ ...config, text_config: undefined })).toContain('text_config is missing');
    expect(message({ ...config, text_config: { ...(config.text_config as Json), twist: 1 } })).toContain('twist = 1');
    expect(message({ ...config, audio_config: {} })).toContain('audio_config');
  });

  test('2, 2B: soft caps, windows on even layers', () => {
    const config = named('Gemma2ForCausalLM', {
      attention_bias: false,
      attn_logit_softcapping: 50,
      cache_implementation: 'hybrid',
      final_logit_softcapping: 30,
      head_dim: 256,
      hidden_act: 'gelu_pytorch_tanh',
      hidden_activation: 'gelu_pytorch_tanh',
      hidden_size: 2304,
      intermediate_size: 9216,
      max_position_embeddings: 8192,
      num_attention_heads: 8,
      num_hidden_layers: 26,
      num_key_value_heads: 4,
      query_pre_attn_scalar: 256,
      rms_norm_eps: 1e-6,
      rope_theta: 10000,
      sliding_window: 4096,
      vocab_size: 256000,
    });
    const model = readArchitecture(config);
    expect(model.blocks.map((_, i) => attention(model, i).window).slice(0, 3)).toEqual([4096, null, 4096]);
    expect([attention(model, 1).softCap, model.logits.softCap]).toEqual([50, 30]);
    const { attn_logit_softcapping: _, final_logit_softcapping: __, ...silent } = config;
    expect(readArchitecture(silent).logits.softCap).toBe(30); // the default of its configuration class
    expect(readArchitecture({ ...silent, final_logit_softcapping: null }).logits.softCap).toBe(null);
  });
});

const PHI = named('Phi3ForCausalLM', {
  attention_bias: false,
  attention_dropout: 0,
  auto_map: { AutoConfig: 'configuration_phi3.Phi3Config' },
  embd_pdrop: 0,
  hidden_act: 'silu',
  hidden_size: 3072,
  intermediate_size: 8192,
  max_position_embeddings: 131072,
  model_type: 'phi3',
  num_attention_heads: 32,
  num_hidden_layers: 32,
  num_key_value_heads: 32,
  original_max_position_embeddings: 4096,
  pad_token_id: 32000,
  resid_pdrop: 0,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  sliding_window: 262144,
  tie_word_embeddings: false,
  vocab_size: 32064,
});
const factors = (count: number): Json => ({
  long_factor: Array.from({ length: count }, (_, i) => 1 + i),
  short_factor: Array<number>(count).fill(1),
  type: 'longrope',
});

describe('Phi', () => {
  test('3.5 mini: longrope by its published layout, and under the name of the first configs', () => {
    for (const type of ['longrope', 'su']) {
      const model = readArchitecture({ ...PHI, rope_scaling: { ...factors(48), type } });
      expect(model.sizes.context).toBe(131072);
      expect(attention(model, 0).rope?.scaling).toMatchObject({
        type: 'longrope',
        originalContext: 4096,
        attentionFactor: Math.sqrt(1 + Math.log(32) / Math.log(4096)),
      });
    }
    expect(message({ ...PHI, rope_scaling: factors(47) })).toContain('longrope needs 48 positive factors, found 47');
    expect(message({ ...PHI, rope_scaling: { type: 'linear', factor: 2 }, mlp_bias: true })).toContain('mlp_bias');
  });

  test('4 mini: three quarters of a head are rotated; 3 mini 4k: a window everywhere', () => {
    const config = {
      ...PHI,
      full_attn_mod: 1,
      interpolate_factor: 1,
      lm_head_bias: false,
      mlp_bias: false,
      num_attention_heads: 24,
      num_key_value_heads: 8,
      partial_rotary_factor: 0.75,
      rope_scaling: factors(48),
      tie_word_embeddings: true,
    };
    expect(attention(readArchitecture(config), 0).rope?.dimensions).toBe(96);
    const older = readArchitecture({ ...PHI, rope_scaling: null, sliding_window: 2047, max_position_embeddings: 4096 });
    expect([attention(older, 31).window, attention(older, 31).rope?.scaling.type]).toEqual([2047, 'default']);
    const qkv = tensorSpecs(older).find(({ checkpoint }) => checkpoint.endsWith('0.self_attn.qkv_proj.weight'));
    expect(qkv?.shape).toEqual([3 * 3072, 3072]);
  });
});

const SMOLLM3 = named('SmolLM3ForCausalLM', {
  attention_bias: false,
  hidden_act: 'silu',
  hidden_size: 2048,
  intermediate_size: 11008,
  max_position_embeddings: 65536,
  max_window_layers: 28,
  mlp_bias: false,
  no_rope_layer_interval: 4,
  no_rope_layers: Array.from({ length: 36 }, (_, i) => Number(i % 4 !== 3)),
  num_attention_heads: 16,
  num_hidden_layers: 36,
  num_key_value_heads: 4,
  pretraining_tp: 2,
  rms_norm_eps: 1e-6,
  rope_scaling: null,
  rope_theta: 5000000,
  sliding_window: null,
  use_cache: false,
  use_sliding_window: false,
  vocab_size: 128256,
});

test('SmolLM3 3B: every fourth layer is not rotated', () => {
  const model = readArchitecture(SMOLLM3);
  const bases = model.blocks.map((_, i) => attention(model, i).rope?.base ?? null);
  expect(bases.slice(0, 5)).toEqual([5e6, 5e6, 5e6, null, 5e6]);
  const { no_rope_layers: _, ...silent } = SMOLLM3;
  expect(readArchitecture(silent).blocks).toEqual(model.blocks);
  expect(model.head).toBe('tied');
  expect(message({ ...SMOLLM3, no_rope_layers: [1, 0] })).toContain('no_rope_layers names 2 layers');
});

test('Granite 3.3 2B: four multipliers', () => {
  const model = readArchitecture(
    named('GraniteForCausalLM', {
      attention_bias: false,
      attention_multiplier: 0.015625,
      embedding_multiplier: 12,
      hidden_act: 'silu',
      hidden_size: 2048,
      intermediate_size: 8192,
      logits_scaling: 8,
      max_position_embeddings: 131072,
      mlp_bias: false,
      num_attention_heads: 32,
      num_hidden_layers: 40,
      num_key_value_heads: 8,
      residual_multiplier: 0.22,
      rms_norm_eps: 1e-5,
      rope_scaling: null,
      rope_theta: 10000000,
      tie_word_embeddings: true,
      vocab_size: 49159,
    }),
  );
  expect([model.input.scale, attention(model, 0).scale, model.blocks[0]?.residualScale, model.logits.scale]).toEqual([
    12, 0.015625, 0.22, 0.125,
  ]);
});

test('OLMo 2 1B: norms after the parts, q/k norms over the whole width', () => {
  const model = readArchitecture(
    named('Olmo2ForCausalLM', {
      attention_bias: false,
      hidden_act: 'silu',
      hidden_size: 2048,
      intermediate_size: 8192,
      max_position_embeddings: 4096,
      num_attention_heads: 16,
      num_hidden_layers: 16,
      num_key_value_heads: 16,
      rms_norm_eps: 1e-6,
      rope_scaling: null,
      rope_theta: 500000,
      tie_word_embeddings: false,
      vocab_size: 100352,
    }),
  );
  const shapes = new Map(tensorSpecs(model).map(({ checkpoint, shape }) => [checkpoint, shape]));
  expect(shapes.get('model.layers.0.self_attn.k_norm.weight')).toEqual([2048]);
  expect(shapes.has('model.layers.0.post_feedforward_layernorm.weight')).toBe(true);
  expect(shapes.has('model.layers.0.input_layernorm.weight')).toBe(false);
});
