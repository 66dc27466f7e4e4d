// Configs of every family: both published layouts, windows, RoPE types, and fields that are refused.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { type Attention, type Block, tensorSpecs, weightSpecs } from '../architecture.ts';
import { readArchitecture, readDrafter, readScored } from './families.ts';

type Json = Record<string, unknown>;

const LLAMA: Json = {
  architectures: ['LlamaForCausalLM'],
  vocab_size: 320,
  hidden_size: 96,
  intermediate_size: 160,
  num_hidden_layers: 4,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  hidden_act: 'silu',
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
};
const QWEN3: Json = { ...LLAMA, architectures: ['Qwen3ForCausalLM'], head_dim: 32 };
const attention = ({ mixer }: Block): Attention => {
  if (mixer.kind !== 'attention') throw new Error(`the mixer is ${mixer.kind}`);
  return mixer;
};
const windows = (config: Json) => readArchitecture(config).blocks.map((block) => attention(block).window);
const ropeOf = (config: Json) => attention(readArchitecture(config).blocks[0] as Block).rope;
const message = (config: Json): string => {
  try {
    readArchitecture(config);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the config was accepted');
};

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

test('sliding windows: Mistral everywhere, Qwen where layer_types or max_window_layers say so', () => {
  const mistral = { ...LLAMA, architectures: ['MistralForCausalLM'] };
  expect(windows({ ...mistral, sliding_window: null })).toEqual([null, null, null, null]);
  expect(windows({ ...mistral, sliding_window: 8 })).toEqual([8, 8, 8, 8]);
  const sliding = { ...QWEN3, use_sliding_window: true, sliding_window: 8 };
  expect(windows({ ...sliding, max_window_layers: 3 })).toEqual([null, null, null, 8]);
  expect(windows({ ...sliding, use_sliding_window: false, max_window_layers: 3 })).toEqual([null, null, null, null]);
  const types = ['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'];
  expect(windows({ ...sliding, layer_types: types })).toEqual([8, null, 8, null]);
  expect(message({ ...sliding, layer_types: types.slice(1) })).toContain('layer_types names 3 layers');
});

test('sliding windows of an EAGLE-3 drafter: with layers of LLaMA layer_types alone decides', () => {
  const layers = { ...LLAMA, num_hidden_layers: 1, model_type: 'llama', sliding_window: 8 };
  const windowOf = (change: Json) => {
    const { architectures: _, ...sizes }: Json = { ...layers, ...change };
    const config = { speculators_model_type: 'eagle3', draft_vocab_size: 64, transformer_layer_config: sizes };
    const [block] = readDrafter(config).architecture.blocks;
    return block?.mixer.kind === 'attention' ? block.mixer.window : 'none';
  };
  const types = { layer_types: ['sliding_attention'] };
  expect(windowOf(types)).toBe(8);
  expect(windowOf({})).toBe(null);
  expect(windowOf({ ...types, use_sliding_window: false })).toBe(null);
  expect(windowOf({ ...types, sliding_window: undefined })).toBe(null);
  expect(windowOf({ max_window_layers: 0 })).toBe(null);
  expect(windowOf({ layer_types: ['full_attention'] })).toBe(null);
  // A switch of Qwen's, off where it is absent.
  expect(windowOf({ ...types, model_type: 'qwen3' })).toBe(null);
  expect(windowOf({ ...types, model_type: 'qwen3', use_sliding_window: true })).toBe(8);
});

const LFM2: Json = {
  architectures: ['Lfm2ForCausalLM'],
  vocab_size: 320,
  hidden_size: 96,
  intermediate_size: 200,
  block_multiple_of: 16,
  num_hidden_layers: 3,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  max_position_embeddings: 512,
  norm_eps: 1e-5,
  rope_theta: 1e6,
  full_attn_idxs: [1],
  conv_L_cache: 4,
};

test('LFM2: layers, feed-forward width, taps', () => {
  const kinds = (config: Json) => readArchitecture(config).blocks.map(({ mixer }) => mixer.kind);
  expect(kinds(LFM2)).toEqual(['convolution', 'attention', 'convolution']);
  const types = ['full_attention', 'conv', 'full_attention'];
  expect(kinds({ ...LFM2, layer_types: types })).toEqual(['attention', 'convolution', 'attention']);
  expect(message({ ...LFM2, layer_types: types.slice(1) })).toContain('layer_types names 2 layers');
  expect(message({ ...LFM2, layer_types: ['conv', 'mamba', 'conv'] })).toContain('layer_types[1] = mamba');
  const width = (config: Json) => readArchitecture({ ...LFM2, ...config }).sizes.feedForward;
  expect(width({})).toBe(144);
  expect(width({ block_ff_dim: 100 })).toBe(80);
  expect(width({ block_ffn_dim_multiplier: 1.3 })).toBe(176);
  expect(width({ block_ffn_dim_multiplier: null, intermediate_size: 310 })).toBe(206);
  expect(width({ block_auto_adjust_ff_dim: false })).toBe(200);
  const shapes = new Map(weightSpecs(readArchitecture(LFM2)).map(({ checkpoint, shape }) => [checkpoint, shape]));
  expect(shapes.get('model.layers.0.conv.conv.weight')).toEqual([96, 1, 4]);
  expect(shapes.get('model.layers.0.conv.in_proj.weight')).toEqual([288, 96]);
  expect(shapes.has('model.layers.1.conv.in_proj.weight')).toBe(false);
  expect(readArchitecture({ ...LFM2, tie_embedding: false }).head).toBe('own');
  expect(message({ ...LFM2, conv_bias: true })).toContain('conv_bias = true is not supported');
  expect(message({ ...LFM2, conv_dim: 64 })).toContain('conv_dim = 64 is not supported');
});

const QWEN35: Json = {
  ...LLAMA,
  architectures: ['Qwen3_5ForCausalLM'],
  head_dim: 32,
  linear_num_key_heads: 2,
  linear_key_head_dim: 8,
  linear_num_value_heads: 4,
  linear_value_head_dim: 16,
  linear_conv_kernel_dim: 3,
  rope_parameters: { rope_type: 'default', rope_theta: 1e7, mrope_interleaved: true, mrope_section: [2, 1, 1] },
};

test('Qwen3.5: layers, gates, rotated dimensions, and the nested config of published checkpoints', () => {
  const read = readArchitecture(QWEN35);
  expect(read.blocks.map(({ mixer }) => mixer.kind)).toEqual(['delta-net', 'delta-net', 'delta-net', 'attention']);
  expect(attention(read.blocks[3] as Block)).toMatchObject({ gate: 'sigmoid', queryKeyNorm: 'head', window: null });
  expect(attention(read.blocks[3] as Block).rope?.dimensions).toBe(8);
  const shapes = new Map(tensorSpecs(read).map(({ checkpoint, shape }) => [checkpoint, shape]));
  expect(shapes.get('model.layers.3.self_attn.q_proj.weight')).toEqual([2 * 6 * 32, 96]);
  expect(shapes.get('model.layers.0.linear_attn.in_proj_qkv.weight')).toEqual([96, 96]);
  expect(shapes.get('model.layers.0.linear_attn.conv1d.weight')).toEqual([96, 1, 3]);
  expect(shapes.get('model.layers.0.linear_attn.A_log')).toEqual([4]);
  const specs = weightSpecs(read);
  const offsets = new Map(specs.map(({ checkpoint, offset }) => [checkpoint, offset]));
  expect(offsets.get('model.layers.3.self_attn.k_norm.weight')).toBe(1);
  expect(offsets.get('model.layers.0.linear_attn.norm.weight')).toBe(0);
  const { architectures: _, tie_word_embeddings, ...text } = QWEN35;
  const published = {
    architectures: ['Qwen3_5ForConditionalGeneration'],
    image_token_id: 1,
    tie_word_embeddings,
    text_config: { ...text, mtp_num_hidden_layers: 1, attn_output_gate: true, full_attention_interval: 4 },
    vision_config: { depth: 2 },
  };
  const nested = readArchitecture(published, new Set(['model.language_model.embed_tokens.weight']));
  expect(weightSpecs(nested).map(({ shape }) => shape)).toEqual(specs.map(({ shape }) => shape));
  expect(weightSpecs(nested)[0]?.checkpoint).toBe('model.language_model.embed_tokens.weight');
  expect(nested.otherParts).toEqual(['mtp.', 'model.visual.', 'visual.']);
  expect(nested.head).toBe('tied');
  const inner = { ...published, text_config: { ...text, tie_word_embeddings: false } };
  expect(readArchitecture(inner).head).toBe('tied');
  const biased = new Map(
    tensorSpecs(readArchitecture({ ...QWEN35, attention_bias: true })).map((t) => [t.checkpoint, t]),
  );
  expect(biased.get('model.layers.3.self_attn.q_proj.bias')?.shape).toEqual([2 * 6 * 32]);
  expect(biased.has('model.layers.3.self_attn.o_proj.bias')).toBe(true);
  expect(message({ ...QWEN35, attn_output_gate: false })).toContain('attn_output_gate = false is not supported');
  expect(message({ ...QWEN35, linear_num_key_heads: 3 })).toContain('linear_num_value_heads 4 is not a multiple');
  expect(message({ ...QWEN35, layer_types: ['mamba', 'mamba', 'mamba', 'mamba'] })).toContain('layer_types[0] = mamba');
});

const GRANITE4: Json = {
  ...LLAMA,
  architectures: ['GraniteMoeHybridForCausalLM'],
  layer_types: Array(4).fill('attention'),
  num_local_experts: 0,
  num_experts_per_tok: 0,
  shared_intermediate_size: 72,
  position_embedding_type: 'rope',
  normalization_function: 'rmsnorm',
  init_method: 'mup',
  mamba_d_state: 256,
};

test('Granite 4: the dense models; recurrent layers and mixtures of experts are refused', () => {
  const shapes = new Map(tensorSpecs(readArchitecture(GRANITE4)).map(({ checkpoint, shape }) => [checkpoint, shape]));
  expect(shapes.get('model.layers.3.shared_mlp.input_linear.weight')).toEqual([144, 96]);
  expect(shapes.get('model.layers.3.shared_mlp.output_linear.weight')).toEqual([96, 72]);
  expect(readArchitecture({ ...GRANITE4, layer_types: Array(4).fill('full_attention') }).blocks).toHaveLength(4);
  const mixed = ['mamba', 'attention', 'mamba', 'attention'];
  expect(message({ ...GRANITE4, layer_types: mixed })).toContain('a layer of type mamba is not supported');
  expect(message({ ...GRANITE4, layer_types: undefined })).toContain('a layer of type mamba is not supported');
  expect(message({ ...GRANITE4, layer_types: ['attention'] })).toContain('layer_types names 1 layers');
  expect(message({ ...GRANITE4, num_local_experts: 8 })).toContain('mixtures of experts are not supported');
  expect(message({ ...GRANITE4, num_local_experts: undefined })).toContain('mixtures of experts are not supported');
  expect(message({ ...GRANITE4, position_embedding_type: 'nope' })).toContain('position_embedding_type nope');
  expect(message({ ...GRANITE4, position_embedding_type: null })).toContain('position_embedding_type nope');
});

test('ERNIE 4.5: rows of queries and keys are put where the kernels rotate them, those of values are not', () => {
  const config = { ...LLAMA, architectures: ['Ernie4_5ForCausalLM'], head_dim: 8, use_bias: true };
  const orders = new Map(weightSpecs(readArchitecture(config)).map(({ checkpoint, order }) => [checkpoint, order]));
  const order = (name: string) => orders.get(`model.layers.2.self_attn.${name}`);
  const halves = [0, 2, 4, 6, 1, 3, 5, 7];
  for (const name of ['q_proj.weight', 'k_proj.weight', 'q_proj.bias', 'k_proj.bias'])
    expect(order(name)).toEqual(halves);
  for (const name of ['v_proj.weight', 'v_proj.bias', 'o_proj.weight']) expect(order(name)).toBeUndefined();
  expect(readArchitecture({ ...config, head_dim: undefined }).sizes.headDim).toBe(128);
  expect(ropeOf(config)?.base).toBe(500_000);
});

test('EXAONE 4: windows by a pattern, a number or a list; layers without one are not rotated, unless none has one', () => {
  const exaone: Json = { ...LLAMA, architectures: ['Exaone4ForCausalLM'], sliding_window: 8 };
  const rotated = (config: Json) => readArchitecture(config).blocks.map((block) => attention(block).rope !== null);
  expect(windows({ ...exaone, sliding_window_pattern: 'LLG' })).toEqual([8, 8, null, 8]);
  expect(windows({ ...exaone, sliding_window_pattern: 2 })).toEqual([8, null, 8, null]);
  expect(windows(exaone)).toEqual([8, 8, 8, null]);
  expect(rotated(exaone)).toEqual([true, true, true, false]);
  const types = ['full_attention', 'sliding_attention', 'full_attention', 'sliding_attention'];
  expect(windows({ ...exaone, sliding_window_pattern: 'LLLG', layer_types: types })).toEqual([null, 8, null, 8]);
  const whole = { ...exaone, sliding_window: null, sliding_window_pattern: 4 };
  expect([windows(whole), rotated(whole)]).toEqual([Array(4).fill(null), Array(4).fill(true)]);
  expect(message({ ...exaone, sliding_window_pattern: 'LxG' })).toContain('sliding_window_pattern LxG');
  expect(message({ ...exaone, sliding_window_pattern: '' })).toContain('sliding_window_pattern');
  expect(message({ ...exaone, sliding_window_pattern: 0 })).toContain('sliding_window_pattern is 0');
});

test('OLMo 3: three layers of four slide, and their RoPE is not scaled', () => {
  const yarn = { rope_type: 'yarn', factor: 8, original_max_position_embeddings: 64, attention_factor: 1.2 };
  const older = { ...LLAMA, architectures: ['Olmo3ForCausalLM'], rope_scaling: yarn };
  const read = readArchitecture(older);
  expect(windows(older)).toEqual([4096, 4096, 4096, null]);
  expect(read.blocks.map((block) => attention(block).rope?.scaling.type)).toEqual([
    ...Array(3).fill('default'),
    'yarn',
  ]);
  expect(read.blocks.map((block) => attention(block).rope?.base)).toEqual(Array(4).fill(500_000));
  const nested = {
    sliding_attention: { rope_type: 'default', rope_theta: 500_000 },
    full_attention: { ...yarn, rope_theta: 500_000 },
  };
  expect(readArchitecture({ ...older, rope_scaling: undefined, rope_parameters: nested })).toEqual(read);
});

test('Hunyuan: a fixed alpha stretches the base of RoPE; what its code would not run is refused', () => {
  const hunyuan = { ...LLAMA, architectures: ['HunYuanDenseV1ForCausalLM'], use_qk_norm: true, use_cla: false };
  const dynamic = {
    type: 'dynamic',
    alpha: 1000,
    beta_fast: 32,
    beta_slow: 1,
    factor: 1,
    mscale: 1,
    mscale_all_dim: 1,
  };
  expect(ropeOf({ ...hunyuan, rope_scaling: dynamic })).toEqual({
    base: 10_000 * 1000 ** (16 / 14),
    dimensions: 16,
    scaling: { type: 'default' },
  });
  expect(ropeOf({ ...hunyuan, rope_scaling: { type: 'dynamic', factor: 2 } })?.base).toBe(10_000);
  expect(attention(readArchitecture(hunyuan).blocks[0] as Block).queryKeyNorm).toBe('rotated head');
  expect(message({ ...LLAMA, rope_scaling: dynamic })).toContain('unknown field alpha');
  expect(message({ ...hunyuan, use_qk_norm: false })).toContain('use_qk_norm = false is not supported');
  const yarn = { rope_type: 'yarn', factor: 4 };
  expect(message({ ...hunyuan, rope_scaling: yarn })).toContain('RoPE type yarn is not supported in this family');
});

test('GLM: half of each head is rotated, by adjacent elements; queries, keys and values have biases', () => {
  const glm = { ...LLAMA, architectures: ['GlmForCausalLM'], head_dim: 8 };
  const specs = new Map(weightSpecs(readArchitecture(glm)).map((spec) => [`${spec.layer}.${spec.name}`, spec]));
  expect(specs.get('1.query')?.order).toEqual([0, 2, 1, 3, 4, 5, 6, 7]);
  expect(specs.get('1.up')).toMatchObject({ checkpoint: 'model.layers.1.mlp.gate_up_proj.weight', firstRow: 160 });
  expect([specs.has('1.keyBias'), specs.has('1.outputBias')]).toEqual([true, false]);
  expect(readArchitecture({ ...glm, head_dim: undefined }).sizes.headDim).toBe(128);
});

test('Helium rotates as ERNIE 4.5 does; VaultGemma is Gemma 2 without norms after its parts', () => {
  const sized = { ...LLAMA, head_dim: 16 };
  const helium = readArchitecture({ ...sized, architectures: ['HeliumForCausalLM'] });
  expect(helium.blocks).toEqual(
    readArchitecture({ ...sized, architectures: ['Ernie4_5ForCausalLM'], rope_theta: 1e5 }).blocks,
  );
  const gemma = { ...sized, hidden_act: undefined, final_logit_softcapping: 20 };
  const { blocks, ...rest } = readArchitecture({ ...gemma, architectures: ['Gemma2ForCausalLM'] });
  const vault = readArchitecture({ ...gemma, architectures: ['VaultGemmaForCausalLM'] });
  expect(vault.blocks).toEqual(blocks.map((block) => ({ ...block, norms: 'before' })));
  expect({ ...vault, blocks, family: rest.family, names: rest.names }).toEqual({ ...rest, blocks });
  expect(
    tensorSpecs(vault)
      .map(({ checkpoint }) => checkpoint.replace('model.layers.0.', ''))
      .slice(1, 12),
  ).toEqual([
    'input_layernorm.weight',
    ...['q', 'k', 'v', 'o'].map((part) => `self_attn.${part}_proj.weight`),
    'pre_feedforward_layernorm.weight',
    ...['gate', 'up', 'down'].map((part) => `mlp.${part}_proj.weight`),
    'model.layers.1.input_layernorm.weight',
    'model.layers.1.self_attn.q_proj.weight',
  ]);
});

test('MiniCPM has the multipliers of Granite by other names; of longrope its context chooses the factors', () => {
  const minicpm: Json = {
    ...LLAMA,
    architectures: ['MiniCPMForCausalLM'],
    dim_model_base: 32,
    mup_denominator: 32,
    scale_depth: 1.4,
    scale_emb: 12,
  };
  const granite = readArchitecture({
    ...LLAMA,
    architectures: ['GraniteForCausalLM'],
    attention_multiplier: 1 / 4,
    embedding_multiplier: 12,
    logits_scaling: 3,
    residual_multiplier: 0.7,
  });
  const { family: _, ...read } = readArchitecture(minicpm);
  expect(read).toEqual({ ...granite, family: undefined });
  const rope_scaling = { rope_type: 'longrope', short_factor: Array(8).fill(2), long_factor: Array(8).fill(3) };
  const factors = (original: number) => {
    const scaling = { ...rope_scaling, original_max_position_embeddings: original };
    return ropeOf({ ...minicpm, rope_scaling: scaling })?.scaling;
  };
  expect(factors(512)).toMatchObject({ short: Array(8).fill(2), long: Array(8).fill(2), attentionFactor: 1 });
  expect(factors(128)).toMatchObject({
    short: Array(8).fill(3),
    attentionFactor: Math.sqrt(1 + Math.log(4) / Math.log(128)),
  });
  expect(message({ ...minicpm, sparse_config: { topk: 64 } })).toContain('sparse_config');
});

test('InternLM3 is LLaMA, with biases everywhere or nowhere', () => {
  const internlm3 = { ...LLAMA, architectures: ['InternLM3ForCausalLM'], head_dim: 16, qkv_bias: false, bias: false };
  expect(readArchitecture(internlm3).blocks).toEqual(readArchitecture(LLAMA).blocks);
  const biased = readArchitecture({ ...internlm3, qkv_bias: true, bias: true });
  expect(biased.blocks).toEqual(readArchitecture({ ...LLAMA, attention_bias: true, mlp_bias: true }).blocks);
  expect(message({ ...internlm3, qkv_bias: true })).toContain('bias = false is not supported');
  const saved = { ...LLAMA, model_type: 'internlm3', head_dim: undefined, attention_bias: true, mlp_bias: true };
  expect(readArchitecture(saved)).toMatchObject({ family: 'internlm3', sizes: { headDim: 128 } });
});

test('EXAONE 3.5 is LLaMA by other names', () => {
  const { num_hidden_layers, hidden_act, rms_norm_eps, ...llama } = LLAMA;
  const own = { num_layers: num_hidden_layers, activation_function: hidden_act, layer_norm_epsilon: rms_norm_eps };
  const exaone: Json = { ...llama, ...own, architectures: ['ExaoneForCausalLM'], embed_dropout: 0 };
  const { family: _, names: __, ...read } = readArchitecture(exaone);
  expect({ ...readArchitecture(LLAMA), family: undefined, names: undefined }).toEqual(read);
  expect(
    tensorSpecs(readArchitecture(exaone))
      .map(({ checkpoint }) => checkpoint.replace('h.3', 'h.i'))
      .slice(-11),
  ).toEqual([
    'transformer.h.2.mlp.c_proj.weight',
    'transformer.h.i.ln_1.weight',
    ...['q', 'k', 'v', 'out'].map((part) => `transformer.h.i.attn.attention.${part}_proj.weight`),
    'transformer.h.i.ln_2.weight',
    ...['fc_0', 'fc_1', 'proj'].map((part) => `transformer.h.i.mlp.c_${part}.weight`),
    'transformer.ln_f.weight',
  ]);
  expect(message({ ...exaone, num_layers: undefined })).toContain('num_layers is missing');
  expect(message({ ...exaone, activation_function: 'gelu' })).toContain('activation_function = "gelu"');
  expect(readArchitecture({ ...exaone, num_layers: undefined, num_hidden_layers: 2 }).sizes.layers).toBe(2);
});

const MINISTRAL3: Json = {
  ...LLAMA,
  architectures: ['Ministral3ForCausalLM'],
  model_type: 'ministral3',
  sliding_window: null,
  rope_parameters: {
    beta_fast: 32,
    beta_slow: 1,
    factor: 16,
    llama_4_scaling_beta: 0.1,
    mscale: 1,
    mscale_all_dim: 1,
    original_max_position_embeddings: 128,
    rope_theta: 1e6,
    rope_type: 'yarn',
    type: 'yarn',
  },
};

test('Ministral 3: the context ends where queries would begin to grow', () => {
  const read = readArchitecture(MINISTRAL3);
  expect(read.sizes).toMatchObject({ context: 128, headDim: 128 });
  expect(ropeOf(MINISTRAL3)?.scaling).toMatchObject({ type: 'yarn', attentionFactor: 1 });
  expect(message({ ...MINISTRAL3, rope_parameters: undefined })).toContain('rope_parameters of type yarn are missing');
  const { architectures: _, tie_word_embeddings: __, ...text } = MINISTRAL3;
  const nested = {
    architectures: ['Mistral3ForConditionalGeneration'],
    model_type: 'mistral3',
    image_token_index: 10,
    text_config: text,
    vision_config: {},
    vision_feature_layer: -1,
  };
  const outer = readArchitecture(nested, new Set(['language_model.model.embed_tokens.weight']));
  expect(outer.names.embedding).toBe('language_model.model.embed_tokens.weight');
  expect([outer.head, outer.family, outer.sizes.context]).toEqual(['tied', 'ministral3', 128]);
  const small = { ...text, model_type: 'mistral', rope_parameters: undefined, rope_theta: 1e9 };
  expect(readArchitecture({ ...nested, text_config: small }).family).toBe('mistral');
});

test('the language models of Qwen2-VL, Qwen2.5-VL and Qwen3-VL are Qwen2 and Qwen3', () => {
  const { architectures: _, tie_word_embeddings, ...text } = LLAMA;
  const images = { image_token_id: 1, video_token_id: 2, vision_config: { depth: 2 } };
  const mrope = { rope_scaling: { type: 'mrope', mrope_section: [2, 3, 3] } };
  const qwen2 = readArchitecture({ ...LLAMA, architectures: ['Qwen2ForCausalLM'] });
  for (const version of ['2', '2_5']) {
    const outer = { architectures: [`Qwen${version}VLForConditionalGeneration`.replace('5VL', '5_VL')], ...images };
    const flat = readArchitecture({ ...outer, ...text, ...mrope, tie_word_embeddings });
    expect(flat).toEqual({ ...qwen2, otherParts: ['model.visual.', 'visual.'] });
    const inner = { text_config: { ...text, ...mrope, tie_word_embeddings } };
    expect(readArchitecture({ ...outer, ...inner })).toEqual(flat);
  }
  const qwen3 = { ...images, architectures: ['Qwen3VLForConditionalGeneration'], tie_word_embeddings };
  const sections = { rope_type: 'default', mrope_interleaved: true, mrope_section: [2, 3, 3] };
  const read = readArchitecture({ ...qwen3, text_config: { ...text, rope_scaling: sections } });
  expect(read.blocks).toEqual(readArchitecture({ ...LLAMA, architectures: ['Qwen3ForCausalLM'] }).blocks);
  expect(read.head).toBe('tied');
  expect(message({ ...LLAMA, ...mrope })).toContain('RoPE type mrope');
});

test('the language models of SmolVLM and LFM2-VL are LLaMA and LFM2', () => {
  const { architectures: _, tie_word_embeddings, ...text } = LLAMA;
  const smolvlm = {
    architectures: ['SmolVLMForConditionalGeneration'],
    model_type: 'smolvlm',
    image_token_id: 1,
    scale_factor: 4,
    text_config: { ...text, model_type: 'llama', perceiver_config: {}, qk_layer_norms: false, use_resampler: false },
    tie_word_embeddings: false,
    vision_config: {},
  };
  const read = readArchitecture(smolvlm, new Set(['model.text_model.embed_tokens.weight']));
  expect(read.blocks).toEqual(readArchitecture(LLAMA).blocks);
  expect([read.head, read.names.embedding, read.names.head]).toEqual([
    'own',
    'model.text_model.embed_tokens.weight',
    'lm_head.weight',
  ]);
  const { architectures: __, ...lfm2 } = LFM2;
  const images = { architectures: ['Lfm2VlForConditionalGeneration'], image_token_id: 1, vision_config: {} };
  const { otherParts, ...inner } = readArchitecture({ ...images, downsample_factor: 2, text_config: lfm2 });
  expect(inner).toEqual(readArchitecture(LFM2));
  expect(otherParts).toContain('model.multi_modal_projector.');
});

test('rope types', () => {
  const rope = (rope_scaling: Json) => ropeOf({ ...LLAMA, rope_scaling })?.scaling;
  expect(rope({ type: 'linear', factor: 2, finetuned: true })).toEqual({ type: 'linear', factor: 2 });
  const yarn = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 128 };
  expect(rope(yarn)).toMatchObject({
    attentionFactor: 1 + 0.1 * Math.log(4),
    betaFast: 32,
    betaSlow: 1,
    truncate: true,
  });
  expect(rope({ ...yarn, attention_factor: 0.5 })).toMatchObject({ attentionFactor: 0.5 });
  expect(rope({ ...yarn, beta_fast: 0, beta_slow: 0 })).toMatchObject({ betaFast: 32, betaSlow: 1 });
  expect(rope({ ...yarn, mscale: 1, mscale_all_dim: 0.5 })).toMatchObject({
    attentionFactor: (1 + 0.1 * Math.log(4)) / (1 + 0.05 * Math.log(4)),
  });
  expect(readArchitecture({ ...LLAMA, rope_scaling: { ...yarn, factor: 8 } }).sizes.context).toBe(1024);
  expect(message({ ...LLAMA, rope_scaling: { rope_type: 'longrope', factor: 2 } })).toContain('RoPE type longrope');
  const partial = { partial_rotary_factor: 0.75 };
  const longrope = { rope_type: 'longrope', factor: 2, ...partial };
  expect(message({ ...LLAMA, ...partial, rope_scaling: longrope })).toContain('RoPE type longrope');
  expect(message({ ...LLAMA, rope_parameters: longrope })).toContain('RoPE type longrope');
  const linear = { rope_type: 'linear', factor: 2, ...partial };
  expect(message({ ...LLAMA, rope_parameters: linear })).toContain('partial_rotary_factor = 0.75 is not supported');
  expect(message({ ...LLAMA, rope_scaling: { rope_type: 'linear', factor: 2, twist: 1 } })).toContain('twist');
});

test('a dynamic RoPE is the plain one up to max_position_embeddings, which is the context', () => {
  const dynamic = { rope_type: 'dynamic', factor: 4, original_max_position_embeddings: 128 };
  const plain = readArchitecture({ ...LLAMA, rope_theta: 5e5 });
  expect(readArchitecture({ ...LLAMA, rope_theta: 5e5, rope_scaling: dynamic })).toEqual(plain);
  const { factor: _, ...without } = dynamic;
  expect(message({ ...LLAMA, rope_scaling: without })).toContain('factor is missing');
});

test('the context before scaling: outside the RoPE, else inside it, else the whole context', () => {
  const eight = Array<number>(8).fill(2);
  const original = (family: string, rope: Json, outside?: number | null) => {
    const fields = { architectures: [`${family}ForCausalLM`], original_max_position_embeddings: outside };
    const scaling = ropeOf({ ...LLAMA, ...fields, rope_scaling: rope })?.scaling;
    return scaling && 'originalContext' in scaling ? scaling.originalContext : null;
  };
  const inside = { original_max_position_embeddings: 128 };
  for (const [family, rope] of [
    ['Llama', { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 }],
    ['Llama', { rope_type: 'yarn', factor: 4 }],
    ['Phi3', { rope_type: 'longrope', short_factor: eight, long_factor: eight }],
  ] as const) {
    expect(original(family, rope, null)).toBe(512);
    expect(original(family, { ...rope, ...inside }, null)).toBe(128);
    expect(original(family, { ...rope, ...inside }, 64)).toBe(64);
    // The configuration class of Phi-3 always has the field outside.
    expect(original(family, { ...rope, ...inside })).toBe(family === 'Phi3' ? 4096 : 128);
  }
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

test('a drafter of blocks may say that its feed-forward part has no biases', () => {
  const drafter = { ...QWEN3, architectures: ['DFlashDraftModel'], block_size: 4, dflash_config: { mask_token_id: 1 } };
  expect(readDrafter({ ...drafter, mlp_bias: false }).architecture).toEqual(readDrafter(drafter).architecture);
  expect(() => readDrafter({ ...drafter, mlp_bias: true })).toThrow('mlp_bias = true is not supported');
});

test('swish is silu', () => {
  expect(readArchitecture({ ...LLAMA, hidden_act: 'swish' })).toEqual(readArchitecture(LLAMA));
});

test('heads of a DSpark drafter of speculators, where its config does not say: those of its configuration class', () => {
  const { architectures: _, ...layers } = QWEN3;
  const drafter = {
    speculators_model_type: 'dspark',
    aux_hidden_state_layer_ids: [1, 2],
    block_size: 4,
    draft_vocab_size: 320,
    mask_token_id: 3,
    sample_from_anchor: true,
    transformer_layer_config: layers,
  };
  const heads = (change: Json) => readDrafter({ ...drafter, ...change }).architecture.heads;
  const silent = { markov: { kind: 'vanilla', rank: 256 }, confidence: 'hidden and token' };
  expect(heads({})).toEqual(silent);
  expect(heads({ markov_rank: 8, confidence_head_with_markov: false })).toEqual({
    markov: { kind: 'vanilla', rank: 8 },
    confidence: 'hidden',
  });
  expect(heads({ enable_confidence_head: false, markov_rank: 0 })).toEqual({ markov: null, confidence: null });
});

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
  [{ head_dim: 20 }, 'head_dim 20'],
  [{ architectures: ['BloomForCausalLM'] }, 'architecture BloomForCausalLM is not supported'],
  [{ architectures: ['__proto__'] }, 'architecture __proto__ is not supported'],
] as const)('%j is refused by name', (change, expected) => {
  expect(message({ ...LLAMA, ...change })).toContain(expected);
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

test('Ministral: layers without a window where layer_types says so', () => {
  const ministral = { ...LLAMA, architectures: ['MinistralForCausalLM'], sliding_window: 8 };
  const types = ['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'];
  expect(windows(ministral)).toEqual([8, 8, 8, 8]);
  expect(windows({ ...ministral, layer_types: types })).toEqual([8, null, 8, null]);
});

test('a field nested beyond what can be printed is refused by name', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
  expect(message({ ...LLAMA, hidden_size: deep })).toContain('hidden_size is [object Array], expected');
  expect(message({ ...LLAMA, hidden_act: deep })).toContain('hidden_act = [object Array] is not supported');
  expect(message({ ...LLAMA, num_experts: deep })).toContain('unknown field num_experts = [object Array]');
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

test.each([
  ['Mistral', {}, [4096, 4096, 4096, 4096]],
  ['Exaone4', {}, [4096, 4096, 4096, null]],
  ['Qwen2', {}, [null, null, null, null]],
  ['Qwen2', { use_sliding_window: true, sliding_window: 8 }, [null, null, null, null]],
  ['Qwen3', { use_sliding_window: true, max_window_layers: 2 }, [null, null, 4096, 4096]],
  ['Qwen3', { use_sliding_window: true, max_window_layers: 2, sliding_window: null }, [null, null, null, null]],
])('where the config does not say, %s %j has the windows of its configuration class', (family, fields, expected) => {
  expect(windows({ ...LLAMA, ...fields, architectures: [`${family}ForCausalLM`] })).toEqual(expected);
});

test('SmolLM3: use_sliding_window counts only where layer_types does not say which layers slide', () => {
  const smollm3 = { ...LLAMA, architectures: ['SmolLM3ForCausalLM'], no_rope_layers: [1, 0, 1, 0], sliding_window: 8 };
  expect(windows(smollm3)).toEqual([null, null, null, null]);
  expect(windows({ ...smollm3, use_sliding_window: true })).toEqual([null, 8, null, 8]);
  const listed = ['sliding_attention', 'full_attention', 'full_attention', 'sliding_attention'];
  for (const used of [true, false])
    expect(windows({ ...smollm3, use_sliding_window: used, layer_types: listed })).toEqual([8, null, null, 8]);
});

test.each([
  ['Phi3', { rope_type: 'default', rope_theta: 1e6 }],
  ['Gemma2', { rope_type: 'linear', factor: 2, rope_theta: 1e6 }],
])('%s with its RoPE in both layouts', (family, parameters) => {
  const config = { ...LLAMA, head_dim: 16, hidden_act: undefined, architectures: [`${family}ForCausalLM`] };
  const older = { rope_scaling: parameters };
  const alone = ropeOf({ ...config, rope_parameters: parameters });
  expect(ropeOf({ ...config, rope_parameters: parameters, ...older })).toEqual(alone);
  const other = { ...older, rope_parameters: { ...parameters, rope_theta: 5e5 } };
  expect(message({ ...config, ...other })).toContain('rope_parameters and rope_scaling disagree');
});

test('Gemma 3 with the RoPE of its global layers in both layouts', () => {
  const gemma: Json = { ...LLAMA, architectures: ['Gemma3ForCausalLM'], head_dim: 16, sliding_window_pattern: 2 };
  const scaling = { rope_type: 'linear', factor: 8 };
  const nested = {
    sliding_attention: { rope_type: 'default', rope_theta: 5000 },
    full_attention: { ...scaling, rope_theta: 2e6 },
  };
  const bases = (config: Json) =>
    readArchitecture({ ...gemma, ...config })
      .blocks.slice(0, 2)
      .map((block) => attention(block).rope?.base);
  expect(bases({ rope_parameters: nested, rope_scaling: scaling })).toEqual([5000, 2e6]);
  expect(bases({ rope_parameters: { full_attention: scaling }, rope_theta: 3e6 })).toEqual([10_000, 3e6]);
  expect(message({ ...gemma, rope_parameters: nested, rope_scaling: { ...scaling, factor: 4 } })).toContain('disagree');
});

test('a part of each head is rotated: stated twice, as transformers 5 saves Phi-3', () => {
  const phi3 = { ...LLAMA, architectures: ['Phi3ForCausalLM'], head_dim: 16, partial_rotary_factor: 0.5 };
  const parameters = { rope_type: 'default', rope_theta: 1e4 };
  const twice = (factor: number) => ({ ...phi3, rope_parameters: { ...parameters, partial_rotary_factor: factor } });
  expect(ropeOf(twice(0.5))?.dimensions).toBe(8);
  expect(message(twice(0.75))).toContain('partial_rotary_factor is not 0.75');
});

test('partial_rotary_factor null is the whole head, where silence is a part of it', () => {
  const { rope_parameters: _, ...qwen35 } = QWEN35;
  const attending = (config: Json) => attention(readArchitecture(config).blocks[3] as Block).rope?.dimensions;
  expect([{}, { partial_rotary_factor: null }].map((own) => attending({ ...qwen35, ...own }))).toEqual([8, 32]);
  const glm = { ...LLAMA, head_dim: 16, architectures: ['GlmForCausalLM'] };
  expect([ropeOf(glm), ropeOf({ ...glm, partial_rotary_factor: null })].map((rope) => rope?.dimensions)).toEqual([
    8, 16,
  ]);
});

test('Gemma 3 has every sixth layer global, unless the pattern of transformers 4 or layer_types say otherwise', () => {
  const gemma = { ...LLAMA, hidden_act: undefined, architectures: ['Gemma3ForCausalLM'], sliding_window: 8 };
  expect(windows({ ...gemma, sliding_window_pattern: 2 })).toEqual([8, null, 8, null]);
  expect(windows({ ...gemma, _sliding_window_pattern: 2 })).toEqual([8, 8, 8, 8]);
});

test('Gemma 3 has no soft cap of scores, whatever its config says, as in the published code', () => {
  const gemma = { ...LLAMA, hidden_act: undefined, head_dim: 16, attn_logit_softcapping: 5 };
  const cap = (version: number) =>
    attention(readArchitecture({ ...gemma, architectures: [`Gemma${version}ForCausalLM`] }).blocks[0] as Block).softCap;
  expect([cap(2), cap(3)]).toEqual([5, null]);
});

test('fields that change nothing, and nulls, are let through', () => {
  readArchitecture({ ...LLAMA, torch_dtype: 'bfloat16', pretraining_tp: 1, bos_token_id: 1, some_field: null });
  readArchitecture({ ...LLAMA, is_encoder_decoder: false, is_decoder: false, top_k: 50, temperature: 1 });
  expect(message({ ...LLAMA, is_encoder_decoder: true })).toContain('unknown field is_encoder_decoder = true');
  readArchitecture({ ...LLAMA, activation: 'swiglu' }); // Falcon 3
  readArchitecture({ ...LLAMA, chunk_size_feed_forward: 0, id2label: { 0: 'LABEL_0' }, label2id: { LABEL_0: 0 } });
});

test("a judge's scores are neither scaled nor capped as its family's logits are", () => {
  const of = (family: string, fields: Json) =>
    readScored({ ...LLAMA, ...fields, architectures: [`${family}ForTokenClassification`] }).logits;
  expect(of('Granite', { logits_scaling: 8 })).toEqual({ scale: 1, softCap: null });
  expect(of('Gemma2', { hidden_act: undefined, head_dim: 16 })).toEqual({ scale: 1, softCap: null });
});

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
