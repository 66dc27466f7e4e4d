// Qwen3: no biases, RMS norm on every query and key head, a head size of its own (heads · head_dim ≠ hidden).
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readWindows } from './windows.ts';

export const readQwen3 = (config: Config): Architecture => {
  const bias = config.flag('attention_bias', false);
  return readDecoder(config, {
    family: 'qwen3',
    sizes: { headDim: 128 },
    queryKeyNorm: 'head',
    bias: { queryKeyValue: bias, output: bias },
    windows: readWindows(config),
  });
};
