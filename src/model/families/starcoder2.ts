// StarCoder2: LayerNorm, a feed-forward part without a gate, biases on all of them, and optionally a sliding window in
// every layer.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder, readLayerNorm, readPlain, withBiases } from './decoder.ts';

/** The published code does not read them, or they change rounding only. */
const UNUSED = [
  'activation_function',
  'attention_softmax_in_fp32',
  'embedding_dropout',
  'layer_norm_epsilon',
  'scale_attention_softmax_in_fp32',
  'scale_attn_weights',
];

const AT = 'model.layers.{i}';

export const readStarcoder2 = (config: Config): Architecture => {
  const bias = config.flag('use_bias', true);
  const window = config.countOrNull('sliding_window');
  config.must('mlp_type', 'default');
  config.must('norm_type', 'layer_norm');
  config.ignore(...UNUSED);
  return readDecoder(config, {
    family: 'starcoder2',
    tied: true,
    sizes: { heads: 24, keyValueHeads: 2, vocabulary: 49_152, context: 4096 },
    bias: { queryKeyValue: bias, output: bias },
    windows: (layers) => Array<number | null>(layers).fill(window),
    norm: readLayerNorm(config, { field: 'norm_epsilon' }),
    plain: readPlain(config, { fallback: 'gelu_pytorch_tanh', bias }),
    names: withBiases({
      attentionNorm: `${AT}.input_layernorm`,
      feedForwardNorm: `${AT}.post_attention_layernorm`,
      up: `${AT}.mlp.c_fc`,
      down: `${AT}.mlp.c_proj`,
      finalNorm: 'model.norm',
    }),
  });
};
