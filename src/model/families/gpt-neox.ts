// GPT-NeoX (Pythia): LayerNorm, a feed-forward part without a gate that by default reads the same stream as the attention,
// and queries, keys and values of each head one after the other in one tensor. RoPE rotates a part of each head.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder, readLayerNorm, readPlain, withBiases } from './decoder.ts';
import { readRope } from './rope-config.ts';

const AT = 'gpt_neox.layers.{i}';
const QKV = `${AT}.attention.query_key_value`;

export const readGPTNeoX = (config: Config): Architecture => {
  const bias = config.flag('attention_bias', true);
  const partial = config.positive('rotary_pct', 0.25);
  const base = config.positive('rotary_emb_base', 10_000);
  const grouped = config.flag('rows_by_head', true); // not in GGUF
  config.ignore('attention_probs_dropout_prob', 'classifier_dropout', 'hidden_dropout_prob', 'is_decoder');
  return readDecoder(config, {
    family: 'gpt_neox',
    bias: { queryKeyValue: bias, output: bias },
    ...(grouped && { grouped }),
    ropes: (sizes) => Array(sizes.layers).fill(readRope(config, { ...sizes, partial }, base)),
    norm: readLayerNorm(config),
    plain: readPlain(config, { fallback: 'gelu' }),
    parallel: config.flag('use_parallel_residual', true) ? 'own norm' : undefined,
    names: {
      embedding: 'gpt_neox.embed_in.weight',
      head: 'embed_out.weight',
      ...withBiases({
        attentionNorm: `${AT}.input_layernorm`,
        query: QKV,
        key: QKV,
        value: QKV,
        output: `${AT}.attention.dense`,
        feedForwardNorm: `${AT}.post_attention_layernorm`,
        up: `${AT}.mlp.dense_h_to_4h`,
        down: `${AT}.mlp.dense_4h_to_h`,
        finalNorm: 'gpt_neox.final_layer_norm',
      }),
    },
  });
};
