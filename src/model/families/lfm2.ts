// LFM2: gated short convolutions with layers of attention between them.
import type { Architecture, Block } from '../architecture.ts';
import type { Config } from './config.ts';
import { AS_THEY_ARE, readSizes, withBiases } from './decoder.ts';
import { readLayerTypes } from './layer-types.ts';
import { readRope } from './rope-config.ts';
import { readWithImages, TOWER } from './with-images.ts';

/** Fields that say how the weights were initialised, and one that the published code does not read. */
const UNUSED = [
  'block_mlp_init_scale',
  'block_norm_eps',
  'block_out_init_scale',
  'block_use_xavier_init',
  'conv_use_xavier_init',
];

/** The width of the feed-forward part, from the width that the config states. */
const readFeedForward = (config: Config): number => {
  const stated = config.count(config.has('block_ff_dim') ? 'block_ff_dim' : 'intermediate_size');
  const multiplier = config.cap('block_ffn_dim_multiplier', 1);
  const multiple = config.count('block_multiple_of', 256);
  config.ignore('intermediate_size'); // where both are there, block_ff_dim holds
  if (!config.flag('block_auto_adjust_ff_dim', true)) return stated;
  const width = Math.floor((2 * stated) / 3);
  // Null: the published code neither multiplies nor rounds.
  return multiplier === null ? width : Math.ceil(Math.floor(multiplier * width) / multiple) * multiple;
};

/** Which layers attend. */
const readAttending = (config: Config, layers: number): readonly boolean[] => {
  const types = readLayerTypes(config, 'full_attention', 'conv')(layers);
  const attending = config.indices('full_attn_idxs');
  return types ?? Array.from({ length: layers }, (_, layer) => attending?.includes(layer) ?? true);
};

const AT = 'model.layers.{i}';

export const readLfm2 = (config: Config): Architecture => {
  const sizes = readSizes(config, { keyValueHeads: 8, feedForward: readFeedForward(config) });
  for (const width of ['block_dim', 'conv_dim', 'conv_dim_out']) config.must(width, sizes.hidden);
  config.must('num_heads', sizes.heads);
  config.must('block_use_swiglu', true);
  config.must('use_pos_enc', true);
  config.ignore(...UNUSED);
  const rope = readRope(config, sizes, 1_000_000);
  const convolution = {
    kind: 'convolution',
    taps: config.count('conv_L_cache', 3),
    bias: config.flag('conv_bias', false),
  } as const;
  const attention = {
    kind: 'attention',
    causal: true,
    queryKeyNorm: 'head',
    bias: { queryKeyValue: false, output: false },
    window: null,
    rope,
    scale: sizes.headDim ** -0.5,
    softCap: null,
    gate: null,
  } as const;
  const blocks = readAttending(config, sizes.layers).map(
    (attends): Block => ({
      mixer: attends ? attention : convolution,
      feedForward: { kind: 'gated', activation: 'silu', bias: false },
      norms: 'before',
      residualScale: 1,
    }),
  );
  const tied = config.flag(config.has('tie_embedding') ? 'tie_embedding' : 'tie_word_embeddings', true);
  config.ignore('tie_word_embeddings');
  const epsilon = config.positive('norm_eps', 1e-5);
  config.finish();
  return {
    family: 'lfm2',
    sizes,
    blocks,
    norm: { kind: 'rms', epsilon, offset: 0 },
    input: { embedding: 'own', features: null, scale: 1 },
    head: tied ? 'tied' : 'own',
    spreadOver: null,
    logits: AS_THEY_ARE,
    names: {
      attentionNorm: `${AT}.operator_norm.weight`,
      query: `${AT}.self_attn.q_proj.weight`,
      key: `${AT}.self_attn.k_proj.weight`,
      value: `${AT}.self_attn.v_proj.weight`,
      queryNorm: `${AT}.self_attn.q_layernorm.weight`,
      keyNorm: `${AT}.self_attn.k_layernorm.weight`,
      output: `${AT}.self_attn.out_proj.weight`,
      ...withBiases({
        convolutionInput: `${AT}.conv.in_proj`,
        convolution: `${AT}.conv.conv`,
        convolutionOutput: `${AT}.conv.out_proj`,
      }),
      feedForwardNorm: `${AT}.ffn_norm.weight`,
      gate: `${AT}.feed_forward.w1.weight`,
      up: `${AT}.feed_forward.w3.weight`,
      down: `${AT}.feed_forward.w2.weight`,
      embedding: 'model.embed_tokens.weight',
      finalNorm: 'model.embedding_norm.weight',
      head: 'lm_head.weight',
    },
  };
};

/** Fields of LFM2-VL: how an image becomes tokens. */
const IMAGES = [
  'do_image_splitting',
  'downsample_factor',
  'encoder_patch_size',
  'image_token_id',
  'max_image_tokens',
  'max_num_patches',
  'max_pixels_tolerance',
  'max_tiles',
  'min_image_tokens',
  'min_tiles',
  'projector_bias',
  'projector_hidden_act',
  'projector_hidden_size',
  'projector_use_layernorm',
  'tile_size',
  'use_image_special_tokens',
  'use_thumbnail',
  'vision_config',
  'vision_feature_layer',
];

export const readLfm2VL = (config: Config): Architecture =>
  readWithImages(config, readLfm2, { tied: config.flag('tie_embedding', true), images: IMAGES, otherParts: TOWER });
