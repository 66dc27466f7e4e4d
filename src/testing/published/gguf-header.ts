// The header of a published GGUF file, written from its config and from the types that llama.cpp's quantisation gives
// its tensors. There are no weights after it: opening a checkpoint reads headers alone.
import { type Architecture, tensorSpecs } from '../../model/architecture.ts';
import { isDrafter, readArchitecture, readDrafter } from '../../model/families/families.ts';
import { elementType } from '../../weights/element-types.ts';
import { type ByteSource, truncated } from '../../weights/files/byte-source.ts';
import type { GgufValue } from '../../weights/gguf/container.ts';
import { DRAFTER_FAMILIES } from '../../weights/gguf/drafters.ts';
import { FAMILIES } from '../../weights/gguf/families.ts';
import { huggingFaceName } from '../../weights/gguf/names.ts';
import type { Source } from '../../weights/open.ts';
import { type GgufTensor, writeGguf } from '../files/gguf-writer.ts';

type Json = Readonly<Record<string, unknown>>;

const TYPE_NUMBERS: Readonly<Record<string, number>> = {
  F32: 0,
  F16: 1,
  Q4_0: 2,
  Q4_1: 3,
  Q5_0: 6,
  Q5_1: 7,
  Q8_0: 8,
  Q2_K: 10,
  Q3_K: 11,
  Q4_K: 12,
  Q5_K: 13,
  Q6_K: 14,
  IQ2_XXS: 16,
  IQ3_XXS: 18,
  IQ1_S: 19,
  IQ4_NL: 20,
  IQ2_S: 22,
  IQ4_XS: 23,
  IQ1_M: 29,
  BF16: 30,
  Q1_0: 41,
};

/** The types of a quantisation: most matrices, the values' projection and half of the downward ones, the vocabulary. */
export interface Mix {
  readonly most: string;
  readonly better: string;
  readonly vocabulary: string;
}

/** What llama.cpp's quantisations are made of, by their names (its llama-quant.cpp). */
export const MIXES: Readonly<Record<string, Mix>> = {
  F16: { most: 'F16', better: 'F16', vocabulary: 'F16' },
  BF16: { most: 'BF16', better: 'BF16', vocabulary: 'BF16' },
  Q8_0: { most: 'Q8_0', better: 'Q8_0', vocabulary: 'Q8_0' },
  Q6_K: { most: 'Q6_K', better: 'Q6_K', vocabulary: 'Q6_K' },
  Q5_K_M: { most: 'Q5_K', better: 'Q6_K', vocabulary: 'Q6_K' },
  Q5_K_S: { most: 'Q5_K', better: 'Q5_K', vocabulary: 'Q6_K' },
  Q4_K_M: { most: 'Q4_K', better: 'Q6_K', vocabulary: 'Q6_K' },
  Q4_K_S: { most: 'Q4_K', better: 'Q5_K', vocabulary: 'Q6_K' },
  Q4_0: { most: 'Q4_0', better: 'Q4_1', vocabulary: 'Q6_K' },
  Q4_1: { most: 'Q4_1', better: 'Q4_1', vocabulary: 'Q6_K' },
  Q3_K_M: { most: 'Q3_K', better: 'Q5_K', vocabulary: 'Q6_K' },
  Q3_K_S: { most: 'Q3_K', better: 'Q3_K', vocabulary: 'Q6_K' },
  Q2_K: { most: 'Q2_K', better: 'Q3_K', vocabulary: 'Q6_K' },
  Q2_K_L: { most: 'Q2_K', better: 'Q3_K', vocabulary: 'Q8_0' },
  IQ4_NL: { most: 'IQ4_NL', better: 'Q5_K', vocabulary: 'Q6_K' },
  IQ4_XS: { most: 'IQ4_XS', better: 'Q5_K', vocabulary: 'Q6_K' },
  IQ3_XXS: { most: 'IQ3_XXS', better: 'Q4_K', vocabulary: 'Q6_K' },
  IQ2_M: { most: 'IQ2_S', better: 'IQ3_XXS', vocabulary: 'Q5_K' },
  IQ2_XXS: { most: 'IQ2_XXS', better: 'Q2_K', vocabulary: 'Q5_K' },
  IQ1_M: { most: 'IQ1_M', better: 'Q2_K', vocabulary: 'Q5_K' },
  IQ1_S: { most: 'IQ1_S', better: 'Q2_K', vocabulary: 'Q5_K' },
  Q1_0: { most: 'Q1_0', better: 'Q1_0', vocabulary: 'Q1_0' },
};

/** The mix that a file's name ends in. Of a dynamic one (`UD-`, `_XL`) the named type is known, its exceptions are not. */
export const mixOf = (name: string): Mix | undefined => {
  const plain = name.toUpperCase().replace(/^UD-/, '');
  return (
    MIXES[plain] ??
    MIXES[plain.replace(/_XL$/, '_M')] ??
    MIXES[plain.replace(/_K_XL$/, '_0')] ??
    MIXES[plain.replace(/_XL$/, '')]
  );
};

/** Rows that are no multiple of 256 cannot have blocks of 256: llama.cpp takes these types instead. */
const INSTEAD: Readonly<Record<string, string>> = { Q4_K: 'Q5_0', Q5_K: 'Q5_1', Q6_K: 'Q8_0' };

const fitting = (type: string, columns: number): string =>
  columns % (elementType(type)?.elements ?? 1) === 0 ? type : (INSTEAD[type] ?? 'IQ4_NL');

const PARTS = [
  'attn_norm attn_q attn_k attn_v attn_qkv attn_output attn_q_norm attn_k_norm post_attention_norm attn_gate',
  'ffn_norm ffn_gate ffn_up ffn_down post_ffw_norm shortconv.conv shortconv.in_proj shortconv.out_proj',
  'ssm_a ssm_dt ssm_conv1d ssm_alpha ssm_beta ssm_norm ssm_out',
]
  .join(' ')
  .split(' ');

/** Fields of Granite 4's configs that Granite's do not have, or have with another value. */
const GRANITE4 =
  /^(mamba_|router_|num_experts|num_local|shared_|position_|output_|normalization_|init_method|layer_types|model_type)/;

const ALL = { ...FAMILIES, ...DRAFTER_FAMILIES };
const TOP = 'token_embd token_embd_norm output_norm output fc enc.output_norm markov_w1 markov_w2 conf_proj'.split(' ');

const architectureOf = (config: Json): Architecture =>
  isDrafter(config) ? readDrafter(config).architecture : readArchitecture(config);

/** ggml's names of a model's tensors, and their shapes. */
const tensorsOf = (name: string, config: Json): Map<string, readonly number[]> => {
  const family = ALL[name];
  if (!family) throw new Error(`no GGUF family ${name}`);
  const architecture = architectureOf(config);
  const shapes = new Map(tensorSpecs(architecture).map(({ checkpoint, shape }) => [checkpoint, shape]));
  const found = new Map<string, readonly number[]>();
  const gated = new Set(name === 'phi3' ? [] : architecture.blocks.map((_, i) => `blk.${i}.ffn_gate.weight`));
  const add = (ggml: string): void => {
    let known: string;
    try {
      known = huggingFaceName(ggml, gated, family, architecture.sizes.layers);
    } catch {
      return; // no such tensor in this family
    }
    const shape = shapes.get(known);
    if (!shape) return;
    found.set(ggml, shape);
    shapes.delete(known);
  };
  for (const top of TOP) for (const kind of ['.weight', '.bias']) add(top + kind);
  for (const layer of architecture.blocks.keys())
    for (const part of PARTS) for (const kind of ['.weight', '.bias', '']) add(`blk.${layer}.${part}${kind}`);
  if (shapes.size > 0) throw new Error(`without a name in GGUF: ${[...shapes.keys()].slice(0, 3).join(', ')}`);
  const { headDim } = architecture.sizes;
  const scaling = config.rope_scaling as Json | null | undefined;
  if (scaling?.rope_type === 'llama3') found.set('rope_freqs.weight', [headDim / 2]);
  if (scaling?.type === 'longrope')
    for (const span of ['long', 'short'])
      found.set(`rope_factors_${span}.weight`, [(scaling[`${span}_factor`] as unknown[]).length]);
  return found;
};

const typeIn = (mix: Mix, tensor: string, shape: readonly number[]): string => {
  if (shape.length === 1 || /norm|rope_|ssm_(a|dt|conv1d)|shortconv\.conv\b/.test(tensor)) return 'F32';
  const columns = shape.at(-1) as number;
  if (/^(token_embd|output)\./.test(tensor)) return fitting(mix.vocabulary, columns);
  const better = /attn_v/.test(tensor) || (/ffn_down/.test(tensor) && Number(/\d+/.exec(tensor)?.[0]) % 2 === 0);
  return fitting(better ? mix.better : mix.most, columns);
};

/** llama.cpp's keys for a config; families add theirs. */
const metadataOf = (name: string, config: Json): Record<string, GgufValue> => {
  const { sizes } = architectureOf(config);
  const number = (field: string): number => config[field] as number;
  const common = {
    block_count: sizes.layers,
    context_length: sizes.context,
    embedding_length: sizes.hidden,
    feed_forward_length: sizes.feedForward,
    'attention.head_count': sizes.heads,
    'attention.head_count_kv': sizes.keyValueHeads,
    'attention.layer_norm_rms_epsilon': (config.rms_norm_eps ?? config.norm_eps) as number,
    'rope.freq_base': number('rope_theta'),
    ...(config.head_dim !== undefined && {
      'attention.key_length': sizes.headDim,
      'attention.value_length': sizes.headDim,
    }),
  };
  const drafter = config.dflash_config as { target_layer_ids: number[]; mask_token_id: number } | undefined;
  const own: Readonly<Record<string, Readonly<Record<string, GgufValue>>>> = {
    ...(drafter && {
      dflash: {
        block_size: number('block_size'),
        target_layers: drafter.target_layer_ids.map((layer) => layer + 1), // named by what enters them
        sample_from_anchor: true,
        has_confidence_head: true,
      },
    }),
    llama: { 'rope.dimension_count': sizes.headDim },
    gemma2: {
      attn_logit_softcapping: number('attn_logit_softcapping'),
      final_logit_softcapping: number('final_logit_softcapping'),
      'attention.sliding_window': number('sliding_window'),
    },
    gemma3: { 'attention.sliding_window': number('sliding_window') },
    phi3: {
      'attention.sliding_window': number('sliding_window'),
      'rope.dimension_count': sizes.headDim * ((config.partial_rotary_factor as number | undefined) ?? 1),
      'rope.scaling.original_context_length': number('original_max_position_embeddings'),
    },
    granite: {
      'attention.scale': number('attention_multiplier'),
      embedding_scale: number('embedding_multiplier'),
      residual_scale: number('residual_multiplier'),
      logit_scale: number('logits_scaling'),
    },
    lfm2: {
      'shortconv.l_cache': number('conv_L_cache'),
      'attention.head_count_kv': Array.from({ length: sizes.layers }, (_, i) =>
        (config.full_attn_idxs as number[] | undefined)?.includes(i) ? sizes.keyValueHeads : 0,
      ),
    },
    qwen35: {
      'rope.dimension_count': sizes.headDim * number('partial_rotary_factor'),
      full_attention_interval: number('full_attention_interval'),
      'ssm.conv_kernel': number('linear_conv_kernel_dim'),
      'ssm.state_size': number('linear_key_head_dim'),
      'ssm.group_count': number('linear_num_key_heads'),
      'ssm.time_step_rank': number('linear_num_value_heads'),
      'ssm.inner_size': number('linear_num_value_heads') * number('linear_value_head_dim'),
    },
  };
  const fields = Object.entries({ ...common, ...own[name] }).map(([key, value]) => [`${name}.${key}`, value]);
  return {
    'general.architecture': name,
    ...(drafter && { 'tokenizer.ggml.mask_token_id': drafter.mask_token_id }),
    ...Object.fromEntries(fields),
  };
};

/** llama.cpp converts the dense models of Granite 4 to Granite. */
const converted = (config: Json): Json => {
  const [architecture] = config.architectures as string[];
  if (architecture !== 'GraniteMoeHybridForCausalLM') return config;
  const known = Object.entries(config).filter(([name]) => !GRANITE4.test(name));
  return {
    ...Object.fromEntries(known),
    architectures: ['GraniteForCausalLM'],
    intermediate_size: config.shared_intermediate_size,
  };
};

/** Of its metadata, what it says of layers that are not there. */
const graniteLeftovers = (config: Json): Record<string, GgufValue> =>
  config.shared_intermediate_size === undefined
    ? {}
    : {
        'attention.head_count_kv': Array<number>(config.num_hidden_layers as number).fill(
          config.num_key_value_heads as number,
        ),
        expert_shared_feed_forward_length: config.shared_intermediate_size as number,
        'rope.scaling.finetuned': true,
        'ssm.conv_kernel': config.mamba_d_conv as number,
        'ssm.group_count': config.mamba_n_groups as number,
        'ssm.inner_size': (config.mamba_expand as number) * (config.hidden_size as number),
        'ssm.state_size': config.mamba_d_state as number,
        'ssm.time_step_rank': config.mamba_n_heads as number,
      };

const ggufNameOf = (config: Json): string => {
  const [architecture] = config.architectures as string[];
  if (architecture === 'Lfm2DSparkDraftModel') return 'dflash'; // llama.cpp has one architecture for DFlash and DSpark
  const entry = Object.entries(FAMILIES).find(([, family]) => family.architecture === architecture);
  if (!entry) throw new Error(`${architecture} has no GGUF family`);
  return entry[0];
};

/** A GGUF file of this config and mix, and its size. */
export const publishedGguf = (published: Json, mix: Mix): { readonly source: Source; readonly bytes: number } => {
  const config = converted(published);
  const name = ggufNameOf(config);
  let offset = 0;
  const tensors = [...tensorsOf(name, config)].map(([tensor, shape]): GgufTensor => {
    // GGUF leaves out the middle 1 of a depthwise convolution's [channels, 1, taps].
    const stored = shape.filter((size, i) => i === 0 || size !== 1);
    const type = typeIn(mix, tensor, stored);
    const block = elementType(type);
    const at = offset;
    const bytes = (stored.reduce((product, size) => product * size, 1) / (block?.elements ?? 1)) * (block?.bytes ?? 4);
    offset = Math.ceil((offset + bytes) / 32) * 32;
    return {
      name: tensor,
      dimensions: stored.toReversed(),
      type: TYPE_NUMBERS[type] as number,
      data: new Uint8Array(0),
      offset: at,
    };
  });
  const fields = Object.entries(graniteLeftovers(published)).map(([key, value]) => [`${name}.${key}`, value]);
  const metadata = { ...metadataOf(name, config), ...Object.fromEntries(fields) };
  const header = writeGguf({ metadata, tensors });
  const size = Math.ceil(header.length / 32) * 32 + offset;
  const open = async (): Promise<ByteSource> => ({
    name: 'model.gguf',
    size,
    readInto: async (target, start) => {
      if (start + target.length > size) throw truncated('model.gguf', size, start + target.length);
      target.fill(0);
      target.set(header.subarray(start, Math.min(header.length, start + target.length)));
    },
    [Symbol.dispose]: () => {},
  });
  const files = { name: 'model.gguf', names: ['model.gguf'], entry: 'model.gguf', open };
  return { source: { kind: 'folder', files }, bytes: size };
};
