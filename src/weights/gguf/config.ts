// Reads GGUF metadata as the config.json that Hugging Face would have published, and ggml's tensor names as Hugging
// Face's. A metadata field of a supported architecture that is not known here is refused by name, since it may change
// the numbers. Keys: llama.cpp's gguf-py/gguf/constants.py.
import { bad } from '../../base/refuse.ts';
import type { GgufHeader, GgufValue } from './container.ts';

interface Family {
  readonly model: string;
  readonly architecture: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Rows of q and k are stored for rotation of adjacent pairs. */
  readonly permuted: boolean;
  /** Its config has `use_sliding_window` besides `sliding_window`. */
  readonly windowSwitch?: true;
}

/** GGUF calls this family llama too; its sliding window distinguishes it. */
const MISTRAL: Family = { model: 'mistral', architecture: 'MistralForCausalLM', config: {}, permuted: true };

const FAMILIES: Readonly<Record<string, Family>> = {
  llama: { model: 'llama', architecture: 'LlamaForCausalLM', config: { mlp_bias: false }, permuted: true },
  qwen2: { model: 'qwen2', architecture: 'Qwen2ForCausalLM', config: {}, permuted: false, windowSwitch: true },
  qwen3: {
    model: 'qwen3',
    architecture: 'Qwen3ForCausalLM',
    config: { attention_bias: false },
    permuted: false,
    windowSwitch: true,
  },
};

/** Fields of an architecture that do not change its numbers, or that are zero for dense models. */
const HARMLESS = ['vocab_size', 'tensor_data_layout', 'embedding_length_out', 'rope.scaling.finetuned'];
const ZERO_ONLY = ['expert_count', 'expert_used_count', 'expert_shared_count', 'leading_dense_block_count'];

/** The fields of one architecture; remembers which were asked for, so that the rest can be refused. */
class Fields {
  readonly #metadata: ReadonlyMap<string, GgufValue>;
  readonly #prefix: string;
  readonly #asked = new Set<string>();

  constructor(metadata: ReadonlyMap<string, GgufValue>, prefix: string) {
    this.#metadata = metadata;
    this.#prefix = prefix;
  }

  #get(key: string): GgufValue | undefined {
    this.#asked.add(`${this.#prefix}.${key}`);
    return this.#metadata.get(`${this.#prefix}.${key}`);
  }

  optional(key: string): number | undefined {
    const value = this.#get(key);
    // Some converters write one number a layer: the same one, in the architectures that are read here.
    const number = Array.isArray(value) && value.every((other) => other === value[0]) ? value[0] : value;
    if (number === undefined) return undefined;
    if (typeof number !== 'number' || !Number.isFinite(number))
      throw bad(`${this.#prefix}.${key} is ${JSON.stringify(value)?.slice(0, 80)}, expected one number`);
    return number;
  }

  required(key: string): number {
    const value = this.optional(key);
    if (value === undefined) throw bad(`GGUF metadata lacks ${this.#prefix}.${key}`);
    return value;
  }

  text(key: string): string | undefined {
    const value = this.#get(key);
    if (value !== undefined && typeof value !== 'string') throw bad(`${this.#prefix}.${key} is not text`);
    return value;
  }

  refuseOthers(): void {
    for (const key of HARMLESS) this.#get(key);
    for (const key of ZERO_ONLY)
      if (this.optional(key)) throw bad(`${this.#prefix}.${key} is not 0: mixtures of experts are not supported`);
    for (const key of this.#metadata.keys())
      if (key.startsWith(`${this.#prefix}.`) && !this.#asked.has(key))
        throw bad(
          `GGUF metadata ${key} is not known to Outrider`,
          'It may change the results, so the file is refused.',
        );
  }
}

export const ggufArchitecture = (metadata: ReadonlyMap<string, GgufValue>): string => {
  const name = metadata.get('general.architecture');
  if (typeof name !== 'string') throw bad('GGUF metadata lacks general.architecture');
  if (!Object.hasOwn(FAMILIES, name))
    throw bad(`the architecture ${name} is not supported`, `Supported in GGUF: ${Object.keys(FAMILIES).join(', ')}.`);
  return name;
};

export const ggufConfig = ({ metadata, tensors }: GgufHeader): Record<string, unknown> => {
  const name = ggufArchitecture(metadata);
  const fields = new Fields(metadata, name);
  const heads = fields.required('attention.head_count');
  const hidden = fields.required('embedding_length');
  const headDim = headSize(fields, hidden / heads);
  const window = fields.optional('attention.sliding_window') || null;
  const family = name === 'llama' && window !== null ? MISTRAL : (FAMILIES[name] as Family);
  const named = new Set(tensors.map((tensor) => tensor.name));
  const embedding = tensors.find((tensor) => tensor.name === 'token_embd.weight');
  const layers = fields.required('block_count');
  // A loop over the layers must not run four billion times.
  if (layers > tensors.length) throw bad(`${name}.block_count is ${layers}, and there are ${tensors.length} tensors`);
  const config = {
    architectures: [family.architecture],
    model_type: family.model,
    ...family.config,
    ...(family === FAMILIES.llama ? { attention_bias: named.has('blk.0.attn_q.bias') } : {}),
    vocab_size: embedding?.shape[0] ?? fields.required('vocab_size'),
    hidden_size: hidden,
    intermediate_size: fields.required('feed_forward_length'),
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: fields.optional('attention.head_count_kv') ?? heads,
    head_dim: headDim,
    hidden_act: 'silu',
    rms_norm_eps: fields.required('attention.layer_norm_rms_epsilon'),
    rope_theta: fields.optional('rope.freq_base') ?? 10000,
    rope_scaling: ropeScaling(fields),
    max_position_embeddings: fields.required('context_length'),
    tie_word_embeddings: !named.has('output.weight'),
    sliding_window: window,
    ...(family.windowSwitch && { use_sliding_window: window !== null }),
    bos_token_id: metadata.get('tokenizer.ggml.bos_token_id') ?? null,
    eos_token_id: metadata.get('tokenizer.ggml.eos_token_id') ?? null,
  };
  fields.refuseOthers();
  return config;
};

const headSize = (fields: Fields, byWidth: number): number => {
  const key = fields.optional('attention.key_length');
  const value = fields.optional('attention.value_length');
  const rotated = fields.optional('rope.dimension_count');
  const size = key ?? rotated ?? byWidth;
  if (rotated !== undefined && rotated !== size)
    throw bad(`rope.dimension_count is ${rotated} of a head of ${size}: partial rotation is not supported`);
  if (value !== undefined && value !== size)
    throw bad(`attention.value_length is ${value} and key_length ${size}: Outrider needs them equal`);
  if (!Number.isInteger(size) || size < 2 || size % 2) throw bad(`a head of ${size} elements`);
  return size;
};

/** llama3's scaling is not here: it is the tensor rope_freqs.weight. */
const ropeScaling = (fields: Fields): Record<string, unknown> | null => {
  const old = fields.optional('rope.scale_linear');
  const type = fields.text('rope.scaling.type') ?? (old ? 'linear' : 'none');
  const factor = fields.optional('rope.scaling.factor') ?? old;
  const original = fields.optional('rope.scaling.original_context_length');
  const attention =
    fields.optional('rope.scaling.attn_factor') ?? fields.optional('rope.scaling.yarn_attn_factor') ?? 1;
  const fast = fields.optional('rope.scaling.yarn_beta_fast');
  const slow = fields.optional('rope.scaling.yarn_beta_slow');
  if (type === 'none' || factor === undefined || factor === 1) return null;
  if (!(factor > 0)) throw bad(`rope.scaling.factor is ${factor}`);
  if (type === 'linear') return { rope_type: 'linear', factor };
  if (type !== 'yarn') throw bad(`rope.scaling.type ${type} is not supported`, 'Supported: none, linear, yarn.');
  return {
    rope_type: 'yarn',
    factor,
    ...(original === undefined ? {} : { original_max_position_embeddings: original }),
    // Both conventions agree at 1; otherwise llama.cpp multiplies what Hugging Face calls the attention factor.
    ...(attention === 1 ? {} : { attention_factor: attention * (0.1 * Math.log(factor) + 1) }),
    ...(fast === undefined ? {} : { beta_fast: fast }),
    ...(slow === undefined ? {} : { beta_slow: slow }),
  };
};

const TOP: Readonly<Record<string, string>> = {
  'token_embd.weight': 'model.embed_tokens.weight',
  'output_norm.weight': 'model.norm.weight',
  'output.weight': 'lm_head.weight',
  'rope_freqs.weight': 'rope_freqs.weight',
};
const IN_LAYER: Readonly<Record<string, string>> = {
  attn_norm: 'input_layernorm',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_qkv: 'self_attn.qkv_proj',
  attn_output: 'self_attn.o_proj',
  attn_q_norm: 'self_attn.q_norm',
  attn_k_norm: 'self_attn.k_norm',
  ffn_norm: 'post_attention_layernorm',
  ffn_gate: 'mlp.gate_proj',
  ffn_up: 'mlp.up_proj',
  ffn_down: 'mlp.down_proj',
};

/** Hugging Face's name of gate and up in one tensor, which ggml calls `ffn_up`. */
const GATE_UP = 'mlp.gate_up_proj';

/** ggml's name → Hugging Face's. `names`: those of all tensors, because an `ffn_up` without `ffn_gate` holds both. */
export const huggingFaceName = (name: string, names: ReadonlySet<string>): string => {
  if (Object.hasOwn(TOP, name)) return TOP[name] as string;
  const [, layer, part, kind] = /^blk\.(\d+)\.(\w+)\.(weight|bias)$/.exec(name) ?? [];
  if (part === undefined || !Object.hasOwn(IN_LAYER, part)) throw bad(`the tensor ${name} is not known to Outrider`);
  const both = part === 'ffn_up' && !names.has(`blk.${layer}.ffn_gate.${kind}`);
  return `model.layers.${layer}.${both ? GATE_UP : IN_LAYER[part]}.${kind}`;
};

/**
 * Heads of a tensor some of whose rows are permuted (row 2i of a head is row i of Hugging Face's, row 2i + 1 is row
 * i + headDim/2), and how many of them are: those of q and k. Null: nothing is permuted.
 */
export const permutedHeads = (
  name: string,
  architecture: string,
  config: Readonly<Record<string, unknown>>,
): { readonly count: number; readonly permuted: number } | null => {
  if (!FAMILIES[architecture]?.permuted) return null;
  const [queries, keys] = [config.num_attention_heads as number, config.num_key_value_heads as number];
  const [, part] = /\.(q|k|qkv)_proj\.(?:weight|bias)$/.exec(name) ?? [];
  if (part === 'q') return { count: queries, permuted: queries };
  if (part === 'k') return { count: keys, permuted: keys };
  return part === 'qkv' ? { count: queries + 2 * keys, permuted: queries + keys } : null;
};
