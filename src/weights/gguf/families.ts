// What the architectures of ggml are as Hugging Face's: config fields that GGUF leaves out or names otherwise, tensor
// names, and rows that lie in another order.
import { bad } from '../../base/refuse.ts';
import type { Fields } from './fields.ts';

/** What the families' readers need to know of a file besides its own fields. */
export interface Facts {
  readonly hidden: number;
  readonly heads: number;
  readonly headDim: number;
  /** Dimensions of a head that are rotated. */
  readonly rotated: number;
  readonly layers: number;
  /** The tensors that are there, by ggml's names. */
  readonly shapes: ReadonlyMap<string, readonly number[]>;
}

type Json = Readonly<Record<string, unknown>>;

export interface GgufFamily {
  readonly architecture: string;
  /** Fields that are not the same in every family. */
  readonly config: (fields: Fields, facts: Facts) => Json;
  /** Where the file has the epsilon of its RMS norms, if not where all have it. */
  readonly epsilon?: string;
  /** Rows of q and k are stored for rotation of adjacent pairs. */
  readonly permuted?: true;
  /** It has LayerNorm: config.json's field of its epsilon. */
  readonly layerNorm?: string;
  /** Its files may state YaRN's second temperature. */
  readonly logMultiplier?: true;
  /** Only a part of each head may be rotated. */
  readonly partial?: true;
  /** Value heads are stored one of each group after the other. */
  readonly regrouped?: true;
  /** Its files may end in blocks that predict several tokens at once. */
  readonly predictors?: true;
  /** What stands before the names of a layer's tensors, if it is not `model.layers.{i}`. */
  readonly layer?: string;
  /** ggml's names without number and suffix → Hugging Face's, where they are not LLaMA's. */
  readonly names?: Readonly<Record<string, string>>;
}

const biases = ({ shapes }: Facts): Json => ({
  attention_bias: shapes.has('blk.0.attn_q.bias'),
  mlp_bias: shapes.has('blk.0.ffn_down.bias'),
});

const window = (fields: Fields): number | null => fields.optional('attention.sliding_window') || null;

const PATTERN = 'attention.sliding_window_pattern';

/** All layers but each n-th have a window. */
const periodic = (every: number | undefined, layers: number): readonly boolean[] | undefined =>
  every === undefined ? undefined : Array.from({ length: layers }, (_, i) => (i + 1) % every !== 0);

/** Which layers have a window, by a list or by a number; null where the file does not say. */
export const layerTypes = (fields: Fields, layers: number): readonly string[] | null => {
  const sliding = fields.list(PATTERN) ?? periodic(fields.optional(PATTERN), layers);
  if (sliding && sliding.length !== layers) throw bad(`${PATTERN} names ${sliding.length} layers, there are ${layers}`);
  return sliding?.map((slides) => (slides ? 'sliding_attention' : 'full_attention')) ?? null;
};

/** Qwen's configs have a switch besides the window, and a number of the lowest layer that has one. */
const switched = (fields: Fields): Json => {
  const sliding = window(fields);
  return {
    sliding_window: sliding,
    use_sliding_window: sliding !== null,
    ...(sliding !== null && { max_window_layers: 0 }),
  };
};

/** GGUF calls Mistral llama too; its sliding window distinguishes it. */
const llama = (fields: Fields, facts: Facts): Json => {
  const sliding = window(fields);
  if (sliding !== null)
    return { architectures: ['MistralForCausalLM'], model_type: 'mistral', sliding_window: sliding };
  return { model_type: 'llama', ...biases(facts) };
};

const NORMS_AFTER = { post_attention_norm: 'post_attention_layernorm', post_ffw_norm: 'post_feedforward_layernorm' };
const GEMMA_NAMES = { ...NORMS_AFTER, ffn_norm: 'pre_feedforward_layernorm' };

/** `largest`: the layers of the one size whose scores are scaled by the width per head, not by the head's size. */
const gemma = ({ hidden, heads, headDim, layers }: Facts, largest: number): Json => ({
  hidden_activation: 'gelu_pytorch_tanh',
  query_pre_attn_scalar: layers === largest ? hidden / heads : headDim,
  rms_norm_offset: 0, // 1 is in the weights already
});

const gemma1 = (_: Fields, { shapes }: Facts): Json => ({
  model_type: 'gemma',
  hidden_act: 'gelu_pytorch_tanh',
  attention_bias: shapes.has('blk.0.attn_q.bias'),
  rms_norm_offset: 0,
});

/** The first files do not name window and soft caps, which all models of the family have alike. */
const gemma2 = (fields: Fields, facts: Facts): Json => ({
  model_type: 'gemma2',
  ...gemma(facts, 46),
  sliding_window: fields.optional('attention.sliding_window') ?? 4096,
  attn_logit_softcapping: fields.optional('attn_logit_softcapping') ?? 50,
  final_logit_softcapping: fields.optional('final_logit_softcapping') ?? 30,
});

const gemma3 = (fields: Fields, facts: Facts): Json => ({
  model_type: 'gemma3_text',
  ...gemma(facts, 62),
  rope_theta: fields.optional('rope.freq_base') ?? 1_000_000,
  rope_local_base_freq: fields.optional('rope.freq_base_swa') ?? 10_000,
  sliding_window: fields.required('attention.sliding_window'),
  layer_types: layerTypes(fields, facts.layers),
  attn_logit_softcapping: fields.optional('attn_logit_softcapping') ?? null,
  final_logit_softcapping: fields.optional('final_logit_softcapping') ?? null,
});

/** The factor from which config.json's rule, which rounds down, gets `rotated` back: 60/88 · 88 is 59.99… */
const rotatedPart = ({ rotated, headDim }: Facts): number => {
  const factor = rotated / headDim;
  return headDim * factor < rotated ? factor + Number.EPSILON : factor;
};

/** The tensors that longrope divides its frequencies by. */
export const LONGROPE_FACTORS = ['rope_factors_long.weight', 'rope_factors_short.weight'] as const;

const phi3 = (fields: Fields, facts: Facts): Json => {
  const named = fields.text('rope.scaling.type') === 'longrope';
  const long = named || LONGROPE_FACTORS.some((tensor) => facts.shapes.has(tensor));
  const attention = fields.optional('rope.scaling.attn_factor');
  const scaling = { rope_type: 'longrope', ...(attention === undefined ? {} : { attention_factor: attention }) };
  return {
    model_type: 'phi3',
    sliding_window: window(fields),
    partial_rotary_factor: rotatedPart(facts),
    original_max_position_embeddings: fields.optional('rope.scaling.original_context_length') ?? null,
    ...(long && { rope_scaling: scaling }),
  };
};

/** Converters did not always write the scales; llama.cpp has these for files without them (src/llama-model.cpp). */
const minicpm = (fields: Fields, { shapes, hidden, layers }: Facts): Json => ({
  model_type: 'minicpm',
  attention_bias: shapes.has('blk.0.attn_q.bias'),
  scale_emb: fields.optional('embedding_scale') ?? 12,
  scale_depth: (fields.optional('residual_scale') ?? 1.4 / Math.sqrt(layers)) * Math.sqrt(layers),
  dim_model_base: hidden / (fields.optional('logit_scale') ?? hidden / 256),
  original_max_position_embeddings: fields.optional('rope.scaling.original_context_length') ?? null,
  ...(LONGROPE_FACTORS.some((tensor) => shapes.has(tensor)) && { rope_scaling: { rope_type: 'longrope' } }),
});

const glm =
  (model_type: string) =>
  (_: Fields, facts: Facts): Json => ({
    model_type,
    attention_bias: facts.shapes.has('blk.0.attn_q.bias'),
    partial_rotary_factor: rotatedPart(facts),
  });

/** Of Granite 4's recurrent layers. Converters write them for its dense models too, which have none. */
const RECURRENT = ['conv_kernel', 'group_count', 'inner_size', 'state_size', 'time_step_rank'];

const granite = (fields: Fields, facts: Facts): Json => {
  for (const key of RECURRENT) fields.optional(`ssm.${key}`);
  // In this family, and in no other, the field is a switch for RoPE.
  if (fields.flag('rope.scaling.finetuned') === false)
    throw bad('rope.scaling.finetuned is false: a Granite without RoPE is not supported');
  return {
    model_type: 'granite',
    // Of Granite 4's dense models, where feed_forward_length is the width of experts that they do not have.
    intermediate_size: fields.optional('expert_shared_feed_forward_length') ?? fields.required('feed_forward_length'),
    ...biases(facts),
    attention_multiplier: fields.optional('attention.scale') ?? facts.headDim ** -0.5,
    embedding_multiplier: fields.optional('embedding_scale') ?? 1,
    residual_multiplier: fields.optional('residual_scale') ?? 1,
    logits_scaling: fields.optional('logit_scale') ?? 1,
  };
};

/** GGUF calls OLMo 3 olmo2 too; its sliding window distinguishes it. */
const olmo2 = (fields: Fields, { layers }: Facts): Json => {
  const sliding = window(fields);
  if (sliding === null) return { model_type: 'olmo2', attention_bias: false };
  const base = fields.optional('rope.freq_base_swa');
  return {
    architectures: ['Olmo3ForCausalLM'],
    model_type: 'olmo3',
    sliding_window: sliding,
    layer_types: layerTypes(fields, layers),
    ...(base !== undefined && { rope_parameters: { sliding_attention: { rope_theta: base } } }),
  };
};

/** Queries grow past the context before scaling; the family's reader ends the context there. */
const mistral3 = (fields: Fields): Json => {
  const grow = (fields.optional('attention.temperature_scale') ?? 0) !== 0;
  const older = { architectures: ['MistralForCausalLM'], model_type: 'mistral' };
  return { ...(grow ? { model_type: 'ministral3' } : older), sliding_window: window(fields) };
};

const exaone4 = (fields: Fields, { layers }: Facts): Json => ({
  model_type: 'exaone4',
  sliding_window: window(fields),
  layer_types: layerTypes(fields, layers),
});

const lfm2 = (fields: Fields, { layers }: Facts): Json => {
  const counts = fields.list('attention.head_count_kv');
  return {
    model_type: 'lfm2',
    hidden_act: null,
    rms_norm_eps: null,
    norm_eps: fields.required('attention.layer_norm_rms_epsilon'),
    conv_L_cache: fields.required('shortconv.l_cache'),
    block_auto_adjust_ff_dim: false,
    layer_types: Array.from({ length: layers }, (_, i) => (counts?.[i] === 0 ? 'conv' : 'full_attention')),
  };
};

const qwen35 = (fields: Fields, facts: Facts): Json => {
  const { layers } = facts;
  const interval = fields.optional('full_attention_interval') ?? 4;
  const recurrent = fields.list('attention.recurrent_layers');
  const values = fields.required('ssm.time_step_rank');
  const inner = fields.required('ssm.inner_size');
  if (inner % values !== 0) throw bad(`ssm.inner_size is ${inner}, and there are ${values} value heads`);
  return {
    model_type: 'qwen3_5_text',
    partial_rotary_factor: rotatedPart(facts),
    linear_conv_kernel_dim: fields.required('ssm.conv_kernel'),
    linear_key_head_dim: fields.required('ssm.state_size'),
    linear_num_key_heads: fields.required('ssm.group_count'),
    linear_num_value_heads: values,
    linear_value_head_dim: inner / values,
    layer_types: Array.from({ length: layers }, (_, i) =>
      (recurrent ? recurrent[i] : (i + 1) % interval !== 0) ? 'linear_attention' : 'full_attention',
    ),
    rms_norm_offset: 0,
  };
};

const gpt2 = (fields: Fields, { hidden, heads, layers }: Facts): Json => ({
  model_type: 'gpt2',
  hidden_act: null,
  head_dim: null,
  rope_theta: null,
  intermediate_size: null,
  n_inner: fields.count('feed_forward_length'),
  n_embd: hidden,
  n_head: heads,
  n_layer: layers,
  n_positions: fields.count('context_length'),
  rows_are_inputs: false,
});

const gptneox = (fields: Fields, facts: Facts): Json => ({
  model_type: 'gpt_neox',
  hidden_act: 'gelu',
  rotary_pct: rotatedPart(facts),
  use_parallel_residual: fields.flag('use_parallel_residual') ?? true,
  rows_by_head: false,
});

const phi2 = (_: Fields, facts: Facts): Json => ({
  model_type: 'phi',
  hidden_act: 'gelu_new',
  partial_rotary_factor: rotatedPart(facts),
  qkv_together: facts.shapes.has('blk.0.attn_qkv.weight'),
});

const starcoder2 = (fields: Fields, { shapes }: Facts): Json => ({
  model_type: 'starcoder2',
  hidden_act: 'gelu_pytorch_tanh',
  use_bias: shapes.has('blk.0.ffn_up.bias'),
  sliding_window: window(fields),
});

const commandR = (fields: Fields, { shapes }: Facts): Json => ({
  model_type: 'cohere',
  attention_bias: shapes.has('blk.0.attn_q.bias'),
  logit_scale: fields.required('logit_scale'),
});

const cohere2 = (fields: Fields, facts: Facts): Json => ({
  ...commandR(fields, facts),
  model_type: 'cohere2',
  sliding_window: fields.required('attention.sliding_window'),
  layer_types: layerTypes(fields, facts.layers),
});

/** llama.cpp goes by the norm's absence, whatever the file says. */
const stablelm = (fields: Fields, facts: Facts): Json => {
  fields.flag('use_parallel_residual');
  return {
    model_type: 'stablelm',
    partial_rotary_factor: rotatedPart(facts),
    use_qkv_bias: facts.shapes.has('blk.0.attn_q.bias'),
    use_parallel_residual: !facts.shapes.has('blk.0.ffn_norm.weight'),
  };
};

/** The language model of Qwen3-VL; what its images add to the first layers' output is not there in a text. */
const qwen3vl = (fields: Fields): Json => {
  fields.optional('n_deepstack_layers');
  return { model_type: 'qwen3', attention_bias: false };
};

const EXAONE_NAMES = {
  token_embd: 'transformer.wte',
  output_norm: 'transformer.ln_f',
  attn_norm: 'ln_1',
  attn_q: 'attn.attention.q_proj',
  attn_k: 'attn.attention.k_proj',
  attn_v: 'attn.attention.v_proj',
  attn_output: 'attn.attention.out_proj',
  ffn_norm: 'ln_2',
  ffn_gate: 'mlp.c_fc_0',
  ffn_up: 'mlp.c_fc_1',
  ffn_down: 'mlp.c_proj',
};

export const FAMILIES: Readonly<Record<string, GgufFamily>> = {
  llama: { architecture: 'LlamaForCausalLM', permuted: true, config: llama },
  qwen2: { architecture: 'Qwen2ForCausalLM', config: (fields) => ({ model_type: 'qwen2', ...switched(fields) }) },
  qwen3: {
    architecture: 'Qwen3ForCausalLM',
    config: (fields) => ({ model_type: 'qwen3', attention_bias: false, ...switched(fields) }),
  },
  qwen2vl: { architecture: 'Qwen2ForCausalLM', config: () => ({ model_type: 'qwen2' }) },
  qwen3vl: { architecture: 'Qwen3ForCausalLM', config: qwen3vl },
  qwen35: {
    architecture: 'Qwen3_5ForCausalLM',
    config: qwen35,
    partial: true,
    regrouped: true,
    predictors: true,
    names: {
      post_attention_norm: 'post_attention_layernorm',
      attn_qkv: 'linear_attn.in_proj_qkv',
      attn_gate: 'linear_attn.in_proj_z',
      ssm_a: 'linear_attn.A_log',
      ssm_dt: 'linear_attn.dt_bias',
      ssm_conv1d: 'linear_attn.conv1d',
      ssm_alpha: 'linear_attn.in_proj_a',
      ssm_beta: 'linear_attn.in_proj_b',
      ssm_norm: 'linear_attn.norm',
      ssm_out: 'linear_attn.out_proj',
    },
  },
  gemma: { architecture: 'GemmaForCausalLM', config: gemma1 },
  gemma2: { architecture: 'Gemma2ForCausalLM', names: GEMMA_NAMES, config: gemma2 },
  gemma3: { architecture: 'Gemma3ForCausalLM', names: GEMMA_NAMES, config: gemma3 },
  gpt2: {
    architecture: 'GPT2LMHeadModel',
    layerNorm: 'layer_norm_epsilon',
    config: gpt2,
    layer: 'transformer.h.{i}',
    names: {
      token_embd: 'transformer.wte',
      position_embd: 'transformer.wpe',
      output_norm: 'transformer.ln_f',
      attn_norm: 'ln_1',
      attn_qkv: 'attn.c_attn',
      attn_output: 'attn.c_proj',
      ffn_norm: 'ln_2',
      ffn_up: 'mlp.c_fc',
      ffn_down: 'mlp.c_proj',
    },
  },
  gptneox: {
    architecture: 'GPTNeoXForCausalLM',
    layerNorm: 'layer_norm_eps',
    partial: true,
    config: gptneox,
    layer: 'gpt_neox.layers.{i}',
    names: {
      token_embd: 'gpt_neox.embed_in',
      output_norm: 'gpt_neox.final_layer_norm',
      output: 'embed_out',
      attn_qkv: 'attention.query_key_value',
      attn_output: 'attention.dense',
      ffn_up: 'mlp.dense_h_to_4h',
      ffn_down: 'mlp.dense_4h_to_h',
    },
  },
  phi2: {
    architecture: 'PhiForCausalLM',
    layerNorm: 'layer_norm_eps',
    partial: true,
    config: phi2,
    names: {
      output_norm: 'model.final_layernorm',
      attn_output: 'self_attn.dense',
      ffn_up: 'mlp.fc1',
      ffn_down: 'mlp.fc2',
    },
  },
  starcoder2: {
    architecture: 'Starcoder2ForCausalLM',
    layerNorm: 'norm_epsilon',
    config: starcoder2,
    names: { ffn_up: 'mlp.c_fc', ffn_down: 'mlp.c_proj' },
  },
  stablelm: { architecture: 'StableLmForCausalLM', layerNorm: 'layer_norm_eps', partial: true, config: stablelm },
  'command-r': { architecture: 'CohereForCausalLM', layerNorm: 'layer_norm_eps', config: commandR },
  cohere2: { architecture: 'Cohere2ForCausalLM', layerNorm: 'layer_norm_eps', config: cohere2 },
  phi3: { architecture: 'Phi3ForCausalLM', partial: true, config: phi3 },
  smollm3: {
    architecture: 'SmolLM3ForCausalLM',
    permuted: true,
    config: (_, facts) => ({ model_type: 'smollm3', ...biases(facts) }),
  },
  granite: { architecture: 'GraniteForCausalLM', permuted: true, config: granite },
  olmo2: { architecture: 'Olmo2ForCausalLM', names: NORMS_AFTER, config: olmo2 },
  mistral3: { architecture: 'Ministral3ForCausalLM', permuted: true, logMultiplier: true, config: mistral3 },
  'hunyuan-dense': {
    architecture: 'HunYuanDenseV1ForCausalLM',
    names: { attn_q_norm: 'self_attn.query_layernorm', attn_k_norm: 'self_attn.key_layernorm' },
    config: (_, { shapes }) => ({ model_type: 'hunyuan_v1_dense', attention_bias: shapes.has('blk.0.attn_q.bias') }),
  },
  chatglm: { architecture: 'GlmForCausalLM', partial: true, config: glm('glm') },
  glm4: {
    architecture: 'Glm4ForCausalLM',
    partial: true,
    names: { post_attention_norm: 'post_self_attn_layernorm', post_ffw_norm: 'post_mlp_layernorm' },
    config: glm('glm4'),
  },
  ernie4_5: {
    architecture: 'Ernie4_5ForCausalLM',
    config: (_, { shapes }) => ({ model_type: 'ernie4_5', use_bias: shapes.has('blk.0.attn_q.bias') }),
  },
  exaone: {
    architecture: 'ExaoneForCausalLM',
    layer: 'transformer.h.{i}',
    epsilon: 'attention.layer_norm_epsilon', // by newer converters
    names: EXAONE_NAMES,
    config: () => ({ model_type: 'exaone' }),
  },
  exaone4: { architecture: 'Exaone4ForCausalLM', names: NORMS_AFTER, config: exaone4 },
  internlm2: {
    architecture: 'LlamaForCausalLM',
    permuted: true,
    config: (_, facts) => ({ model_type: 'llama', ...biases(facts) }),
  },
  minicpm: { architecture: 'MiniCPMForCausalLM', permuted: true, config: minicpm },
  lfm2: {
    architecture: 'Lfm2ForCausalLM',
    config: lfm2,
    names: {
      token_embd_norm: 'model.embedding_norm',
      output_norm: 'model.embedding_norm',
      attn_norm: 'operator_norm',
      attn_output: 'self_attn.out_proj',
      attn_q_norm: 'self_attn.q_layernorm',
      attn_k_norm: 'self_attn.k_layernorm',
      ffn_norm: 'ffn_norm',
      ffn_gate: 'feed_forward.w1',
      ffn_up: 'feed_forward.w3',
      ffn_down: 'feed_forward.w2',
      'shortconv.conv': 'conv.conv',
      'shortconv.in_proj': 'conv.in_proj',
      'shortconv.out_proj': 'conv.out_proj',
    },
  },
};
