// StableLM 2 and StableLM 3B: the LLaMA decoder with LayerNorm, biases on q, k and v where the config says so, and a RoPE
// that rotates a part of each head. Attention and feed-forward part may read one norm of the stream.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder, readLayerNorm, withBiases } from './decoder.ts';
import { readRope } from './rope-config.ts';

const AT = 'model.layers.{i}';

export const readStableLM = (config: Config): Architecture => {
  config.must('qk_layernorm', false);
  return readDecoder(config, {
    family: 'stablelm',
    sizes: { heads: 32, keyValueHeads: 32, vocabulary: 50_304, context: 4096 },
    bias: { queryKeyValue: config.flag('use_qkv_bias', false), output: false },
    ropes: (sizes) => Array(sizes.layers).fill(readRope(config, { ...sizes, partial: 0.25 })),
    norm: readLayerNorm(config),
    parallel: config.flag('use_parallel_residual', false) ? 'shared norm' : undefined,
    names: withBiases({
      attentionNorm: `${AT}.input_layernorm`,
      feedForwardNorm: `${AT}.post_attention_layernorm`,
      finalNorm: 'model.norm',
    }),
  });
};
