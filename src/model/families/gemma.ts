// Gemma 2 and 3 (text): norms with 1 + w before and after every part, GeGLU, scaled embeddings, layers with a sliding
// window among layers that see everything. Gemma 2 has soft caps; Gemma 3 has q/k norms, and a RoPE of its own for
// layers with a window.
import type { Architecture, Sizes } from '../architecture.ts';
import type { Rope } from '../forward/rope-table.ts';
import type { Config } from './config.ts';
import { readDecoder, readHead } from './decoder.ts';
import { readSliding } from './layer-types.ts';
import { readRopeIn, refuseOther } from './rope-config.ts';

const AT = 'model.layers.{i}';

const NAMES: Architecture['names'] = {
  attentionPostNorm: `${AT}.post_attention_layernorm.weight`,
  feedForwardNorm: `${AT}.pre_feedforward_layernorm.weight`,
  feedForwardPostNorm: `${AT}.post_feedforward_layernorm.weight`,
};

/** What both read alike. `slides`: whether a layer has a window where `layer_types` does not say. */
const readGemma = (config: Config, slides: (layer: number) => boolean) => {
  const bias = config.flag('attention_bias', false);
  const window = config.count('sliding_window', 4096);
  const types = readSliding(config);
  const sliding = (layers: number): readonly boolean[] =>
    types(layers) ?? Array.from({ length: layers }, (_, i) => slides(i));
  config.must('hidden_activation', 'gelu_pytorch_tanh');
  config.ignore('hidden_act'); // the published code reads the other one
  config.must('use_bidirectional_attention', false);
  return {
    sliding,
    alike: {
      bias: { queryKeyValue: bias, output: bias },
      windows: (layers: number) => sliding(layers).map((slid) => (slid ? window : null)),
      scale: config.positive('query_pre_attn_scalar', 256) ** -0.5,
      activation: 'gelu',
      norms: 'both',
      // GGUF stores 1 + w.
      normOffset: config.number('rms_norm_offset', 1),
      tied: true,
      embeddingScale: Math.sqrt,
      names: NAMES,
    },
  } as const;
};

export const readGemma2 = (config: Config): Architecture => {
  const { alike } = readGemma(config, (layer) => layer % 2 === 0);
  return readDecoder(config, {
    family: 'gemma2',
    ...alike,
    softCap: config.cap('attn_logit_softcapping', 50),
    logits: { scale: 1, softCap: config.cap('final_logit_softcapping', 30) },
    sizes: { heads: 8, keyValueHeads: 4, headDim: 256, vocabulary: 256_000, context: 8192 },
  });
};

/** By kind of layer in transformers 5; in transformers 4 the scaling is that of layers without a window. */
const readRopes = (config: Config, of: Sizes): { readonly local: Rope; readonly global: Rope } => {
  const [localBase, base] = [config.positive('rope_local_base_freq', 10_000), config.positive('rope_theta', 1_000_000)];
  const unscaled = { dimensions: of.headDim, scaling: { type: 'default' } } as const;
  const parameters = config.inner('rope_parameters');
  const [local, global] = [parameters?.inner('sliding_attention'), parameters?.inner('full_attention')];
  parameters?.finish();
  const older = config.inner('rope_scaling');
  const stated = global && readRopeIn(global, of, base);
  const scaled = older && readRopeIn(older, of, stated?.base ?? base);
  if (stated && scaled) refuseOther(config, stated, scaled);
  return {
    local: local ? readRopeIn(local, of, localBase) : { ...unscaled, base: localBase },
    global: stated ?? scaled ?? { ...unscaled, base },
  };
};

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
      const { local, global } = readRopes(config, sizes);
      return sliding(sizes.layers).map((slid) => (slid ? local : global));
    },
    sizes: { heads: 8, keyValueHeads: 4, headDim: 256, vocabulary: 262_208, context: 131_072 },
  });
};

/** Fields of the model that also sees images. */
const IMAGES = ['boi_token_index', 'eoi_token_index', 'image_token_index', 'mm_tokens_per_image', 'vision_config'];

/** A checkpoint that also sees images: its language model, without its vision tower and projector. */
export const readGemma3WithImages = (config: Config): Architecture => {
  const text = config.inner('text_config');
  if (!text) throw config.error('text_config is missing');
  const head = readHead(config, true);
  config.ignore(...IMAGES);
  config.finish();
  const others = ['vision_tower.', 'multi_modal_projector.'];
  return { ...readGemma3(text), head, otherParts: others.flatMap((part) => [part, `model.${part}`]) };
};
