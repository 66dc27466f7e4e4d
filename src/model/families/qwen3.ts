// Qwen3: no biases, RMS norm on every query and key head, a head size of its own (heads · head_dim ≠ hidden). The language
// model of Qwen3-VL is the same in a text: what images add to its layers is not there.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readRope, SECTIONS } from './rope-config.ts';
import { readWindows } from './windows.ts';
import { QWEN_IMAGES, readWithImages } from './with-images.ts';

export const readQwen3 = (config: Config): Architecture => {
  const bias = config.flag('attention_bias', false);
  return readDecoder(config, {
    family: 'qwen3',
    sizes: { keyValueHeads: 32, headDim: 128 },
    queryKeyNorm: 'head',
    bias: { queryKeyValue: bias, output: bias },
    windows: readWindows(config),
    ropes: (sizes) => Array(sizes.layers).fill(readRope(config, { ...sizes, unused: SECTIONS })),
  });
};

export const readQwen3VL = (config: Config): Architecture =>
  readWithImages(config, readQwen3, { tied: false, ...QWEN_IMAGES });
