// LLaMA 1–3, SmolLM, TinyLlama …; Mistral is the same network with a sliding window in every layer.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';

export const readLlama = (config: Config): Architecture => {
  const bias = config.flag('attention_bias', false);
  return readDecoder(config, {
    family: 'llama',
    bias: { queryKeyValue: bias, output: bias },
    feedForwardBias: config.flag('mlp_bias', false),
  });
};

export const readMistral = (config: Config): Architecture => {
  const window = config.countOrNull('sliding_window', 4096);
  return readDecoder(config, {
    family: 'mistral',
    windows: (layers) => Array<number | null>(layers).fill(window),
  });
};
