// LLaMA 1–3, SmolLM, TinyLlama …; Mistral is the same network with a sliding window in every layer.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readSliding } from './layer-types.ts';
import { readWithImages } from './with-images.ts';

export const readLlama = (config: Config): Architecture => {
  const bias = config.flag('attention_bias', false);
  config.must('activation', 'swiglu'); // Falcon 3's; the published code does not read it
  return readDecoder(config, {
    family: 'llama',
    bias: { queryKeyValue: bias, output: bias },
    feedForwardBias: config.flag('mlp_bias', false),
  });
};

/** `sliding`: which layers have the window; null: all. */
const readWindowed = (config: Config, sliding: (layers: number) => readonly boolean[] | null): Architecture => {
  const window = config.countOrNull('sliding_window', 4096);
  return readDecoder(config, {
    family: 'mistral',
    sizes: { keyValueHeads: 8 },
    windows: (layers) =>
      (sliding(layers) ?? Array<boolean>(layers).fill(true)).map((slides) => (slides ? window : null)),
  });
};

export const readMistral = (config: Config): Architecture => readWindowed(config, () => null);

/** Mistral with layers that see everything among those with a window. */
export const readMinistral = (config: Config): Architecture => readWindowed(config, readSliding(config));

/** Fields of the text's part that are left over from other models of its authors; the published code is LLaMA's. */
const LEFT_OVER = [
  '_flash_attn_2_enabled',
  'neftune_noise_alpha',
  'perceiver_config',
  'pixel_shuffle_factor',
  'qk_layer_norms',
  'use_resampler',
];

/** The language model of SmolVLM and Idefics 3. */
export const readSmolVLM = (config: Config): Architecture => {
  const read = (text: Config): Architecture => {
    text.ignore(...LEFT_OVER);
    return readLlama(text);
  };
  const images = [
    '_pad_token_id',
    'image_token_id',
    'scale_factor',
    'use_reentrant_checkpointing',
    'vision_config',
    'vocab_size',
  ];
  return readWithImages(config, read, { tied: false, images, otherParts: ['model.vision_model.', 'model.connector.'] });
};
