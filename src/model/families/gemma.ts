// Gemma (text): norms with 1 + w, GeGLU, scaled embeddings. From Gemma 2 on norms before and after every part, and layers
// with a sliding window among layers that see everything. Gemma 2 has soft caps; Gemma 3 has q/k norms, and a RoPE of its
// own for layers with a window.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { type DecoderDifferences, readDecoder } from './decoder.ts';
import { readSliding } from './layer-types.ts';
import { readLayerRopes } from './rope-config.ts';
import { readWithImages, TOWER } from './with-images.ts';

const AT = 'model.layers.{i}';

const NAMES: Architecture['names'] = {
  attentionPostNorm: `${AT}.post_attention_layernorm.weight`,
  feedForwardNorm: `${AT}.pre_feedforward_layernorm.weight`,
  feedForwardPostNorm: `${AT}.post_feedforward_layernorm.weight`,
};

/** What all read alike. */
const readAlike = (config: Config) => {
  const bias = config.flag('attention_bias', false);
  config.must('hidden_activation', 'gelu_pytorch_tanh');
  config.must('use_bidirectional_attention', false);
  return {
    bias: { queryKeyValue: bias, output: bias },
    activation: 'gelu',
    // GGUF stores 1 + w.
    normOffset: config.number('rms_norm_offset', 1),
    tied: true,
    embeddingScale: Math.sqrt,
    scaleInside: true,
  } as const;
};

/** The first one. Its hidden_act `gelu` means the tanh form. */
export const readGemma1 = (config: Config): Architecture => {
  config.must('hidden_act', 'gelu_pytorch_tanh', 'gelu');
  return readDecoder(config, {
    family: 'gemma',
    ...readAlike(config),
    sizes: { heads: 16, keyValueHeads: 16, headDim: 256, vocabulary: 256_000, context: 8192 },
  });
};

/** What the later ones read alike. `slides`: whether a layer has a window where `layer_types` does not say. */
const readGemma = (config: Config, slides: (layer: number) => boolean) => {
  const window = config.count('sliding_window', 4096);
  const types = readSliding(config);
  const sliding = (layers: number): readonly boolean[] =>
    types(layers) ?? Array.from({ length: layers }, (_, i) => slides(i));
  config.ignore('hidden_act'); // the published code reads hidden_activation
  return {
    sliding,
    alike: {
      ...readAlike(config),
      windows: (layers: number) => sliding(layers).map((slid) => (slid ? window : null)),
      scale: config.positive('query_pre_attn_scalar', 256) ** -0.5,
      norms: 'both',
      names: NAMES,
    },
  } as const;
};

const readGemma2Alike = (config: Config, differences: Partial<DecoderDifferences>): Architecture => {
  const { alike } = readGemma(config, (layer) => layer % 2 === 0);
  return readDecoder(config, {
    family: 'gemma2',
    ...alike,
    softCap: config.cap('attn_logit_softcapping', 50),
    logits: { scale: 1, softCap: config.cap('final_logit_softcapping', 30) },
    sizes: { heads: 8, keyValueHeads: 4, headDim: 256, vocabulary: 256_000, context: 8192 },
    ...differences,
  });
};

export const readGemma2 = (config: Config): Architecture => readGemma2Alike(config, {});

/** Gemma 2 without norms after its parts. */
export const readVaultGemma = (config: Config): Architecture =>
  readGemma2Alike(config, {
    family: 'vaultgemma',
    norms: 'before',
    names: { feedForwardNorm: NAMES.feedForwardNorm as string },
  });

export const readGemma3 = (config: Config): Architecture => {
  const pattern = config.count('sliding_window_pattern', 6);
  config.ignore('_sliding_window_pattern'); // saved next to layer_types; the published code does not read it
  const { alike, sliding } = readGemma(config, (layer) => (layer + 1) % pattern !== 0);
  config.ignore('attn_logit_softcapping'); // the published code reads it in Gemma 2 alone
  return readDecoder(config, {
    family: 'gemma3',
    ...alike,
    queryKeyNorm: 'head',
    logits: { scale: 1, softCap: config.cap('final_logit_softcapping', null) },
    ropes: (sizes) => {
      const bases = [
        config.positive('rope_local_base_freq', 10_000),
        config.positive('rope_theta', 1_000_000),
      ] as const;
      const { local, global } = readLayerRopes(config, sizes, ...bases);
      return sliding(sizes.layers).map((slid) => (slid ? local : global));
    },
    sizes: { heads: 8, keyValueHeads: 4, headDim: 256, vocabulary: 262_208, context: 131_072 },
  });
};

/** Fields of the model that also sees images. */
const IMAGES = ['boi_token_index', 'eoi_token_index', 'image_token_index', 'mm_tokens_per_image', 'vision_config'];

export const readGemma3WithImages = (config: Config): Architecture =>
  readWithImages(config, readGemma3, { tied: true, images: IMAGES, otherParts: TOWER });
