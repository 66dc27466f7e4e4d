// Qwen2 and Qwen2.5: the LLaMA decoder with biases on q, k and v, and optionally a sliding window in the upper layers. The
// language models of Qwen2-VL and Qwen2.5-VL are the same.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readRope, SECTIONS } from './rope-config.ts';
import { readWindows } from './windows.ts';
import { QWEN_IMAGES, readWithImages } from './with-images.ts';

export const readQwen2 = (config: Config): Architecture => {
  config.must('use_mrope', false);
  config.ignore('attention_bias'); // the published code does not read it
  return readDecoder(config, {
    family: 'qwen2',
    sizes: { keyValueHeads: 32 },
    bias: { queryKeyValue: true, output: false },
    windows: readWindows(config),
    ropes: (sizes) => Array(sizes.layers).fill(readRope(config, { ...sizes, unused: SECTIONS })),
  });
};

/** First published with the language model's fields next to those of images. */
export const readQwen2VL = (config: Config): Architecture => {
  const text = config.inner('text_config');
  if (text) {
    // transformers 4 states it inside, transformers 5 outside.
    const tied = text.flag('tie_word_embeddings', false);
    return readWithImages(config, readQwen2, { tied, ...QWEN_IMAGES });
  }
  config.ignore(...QWEN_IMAGES.images, 'vision_token_id');
  return { ...readQwen2(config), otherParts: QWEN_IMAGES.otherParts };
};
