// Helium: the LLaMA decoder, whose RoPE rotates adjacent elements of a head.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readRope } from './rope-config.ts';

export const readHelium = (config: Config): Architecture => {
  const bias = config.flag('attention_bias', false);
  return readDecoder(config, {
    family: 'helium',
    epsilon: 1e-8,
    sizes: { keyValueHeads: 20, headDim: 128 },
    pairs: 'adjacent',
    bias: { queryKeyValue: bias, output: false },
    feedForwardBias: config.flag('mlp_bias', false),
    ropes: (sizes) => Array(sizes.layers).fill(readRope(config, sizes, 100_000)),
  });
};
