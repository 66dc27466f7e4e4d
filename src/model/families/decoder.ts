// What the pre-norm decoders of the LLaMA line have in common: sizes, tensor names, tied heads. A family's file states
// only what differs.
import type { Architecture, Attention, Sizes } from '../architecture.ts';
import type { Rope } from '../forward/rope-table.ts';
import type { Config } from './config.ts';
import { readRope } from './rope-config.ts';

/** The tensors of one layer; `at` is what stands before their names. */
export const layerNames = (at: string): Architecture['names'] => ({
  attentionNorm: `${at}.input_layernorm.weight`,
  query: `${at}.self_attn.q_proj.weight`,
  key: `${at}.self_attn.k_proj.weight`,
  value: `${at}.self_attn.v_proj.weight`,
  queryBias: `${at}.self_attn.q_proj.bias`,
  keyBias: `${at}.self_attn.k_proj.bias`,
  valueBias: `${at}.self_attn.v_proj.bias`,
  queryNorm: `${at}.self_attn.q_norm.weight`,
  keyNorm: `${at}.self_attn.k_norm.weight`,
  output: `${at}.self_attn.o_proj.weight`,
  outputBias: `${at}.self_attn.o_proj.bias`,
  feedForwardNorm: `${at}.post_attention_layernorm.weight`,
  gate: `${at}.mlp.gate_proj.weight`,
  up: `${at}.mlp.up_proj.weight`,
  down: `${at}.mlp.down_proj.weight`,
});

const NAMES: Architecture['names'] = {
  ...layerNames('model.layers.{i}'),
  embedding: 'model.embed_tokens.weight',
  finalNorm: 'model.norm.weight',
  head: 'lm_head.weight',
};

/** `feedForward`: where the width is not simply `intermediate_size`. */
export const readSizes = (config: Config, feedForward = config.count('intermediate_size')): Sizes => {
  const heads = config.count('num_attention_heads');
  const hidden = config.count('hidden_size');
  const sizes = {
    layers: config.count('num_hidden_layers'),
    hidden,
    heads,
    keyValueHeads: config.count('num_key_value_heads', heads),
    headDim: config.count('head_dim', hidden / heads),
    feedForward,
    vocabulary: config.count('vocab_size'),
    context: config.count('max_position_embeddings'),
  };
  if (heads % sizes.keyValueHeads !== 0)
    throw config.error(`num_attention_heads ${heads} is not a multiple of num_key_value_heads ${sizes.keyValueHeads}`);
  if (sizes.headDim % 8 !== 0) throw config.error(`head_dim ${sizes.headDim} is not a multiple of 8`);
  return sizes;
};

/** A scaled RoPE may reach further than `max_position_embeddings`, which some configs leave at the original length. */
const reach = ({ scaling }: Rope, context: number): number =>
  scaling.type === 'yarn' ? Math.max(context, Math.floor(scaling.originalContext * scaling.factor)) : context;

export interface LayerDifferences {
  readonly causal: boolean;
  readonly queryKeyNorm: boolean;
  readonly bias: Attention['bias'];
  /** The window of each layer. */
  readonly windows: (layers: number) => readonly (number | null)[];
}

/** The layers and all their sizes. */
export const readLayers = (
  config: Config,
  { windows, ...differences }: LayerDifferences,
): Pick<Architecture, 'sizes' | 'blocks' | 'norm'> => {
  const sizes = readSizes(config);
  const rope = readRope(config, sizes.context);
  config.must('hidden_act', 'silu');
  config.must('rope_interleaved', false);
  return {
    sizes: { ...sizes, context: reach(rope, sizes.context) },
    blocks: windows(sizes.layers).map((window) => ({
      mixer: { kind: 'attention', ...differences, window, rope },
      feedForward: { kind: 'gated', activation: 'silu' },
    })),
    norm: { kind: 'rms', epsilon: config.positive('rms_norm_eps', 1e-6) },
  };
};

export interface DecoderDifferences extends Omit<LayerDifferences, 'causal'> {
  readonly family: string;
  /** Weights whose tensor has another name, or holds several weights. */
  readonly names?: Architecture['names'];
}

/** Reads a language model and closes the config: a field that neither this nor the family has read is an error. */
export const readDecoder = (config: Config, { family, names, ...differences }: DecoderDifferences): Architecture => {
  const layers = readLayers(config, { ...differences, causal: true });
  const head = config.flag('tie_word_embeddings', false) ? 'tied' : 'own';
  config.finish();
  return {
    family,
    ...layers,
    input: { embedding: 'own', features: null },
    head,
    spreadOver: null,
    names: { ...NAMES, ...names },
  };
};
