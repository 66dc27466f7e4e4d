// ERNIE 4.5 (dense): the LLaMA decoder, whose RoPE rotates adjacent elements of a head.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readRope } from './rope-config.ts';

export const readErnie45 = (config: Config): Architecture => {
  const bias = config.flag('use_bias', false);
  return readDecoder(config, {
    family: 'ernie4_5',
    tied: true,
    epsilon: 1e-5,
    sizes: { keyValueHeads: 2, headDim: 128 },
    pairs: 'adjacent',
    bias: { queryKeyValue: bias, output: bias },
    feedForwardBias: bias,
    ropes: (sizes) => Array(sizes.layers).fill(readRope(config, sizes, 500_000)),
  });
};
