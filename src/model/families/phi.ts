// Phi-1, Phi-1.5 and Phi-2: attention and a feed-forward part without a gate read one LayerNorm of the stream, and
// everything has a bias, the head too. RoPE rotates a part of each head.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { AS_THEY_ARE, readDecoder, readLayerNorm, readPlain, withBiases } from './decoder.ts';
import { readRope } from './rope-config.ts';

const AT = 'model.layers.{i}';

export const readPhi = (config: Config): Architecture => {
  config.must('qk_layernorm', false);
  // Of GGUF files that were made of the model's first layout.
  const QKV = config.flag('qkv_together', false) ? { query: `${AT}.self_attn.qkv_proj` } : null;
  return readDecoder(config, {
    family: 'phi',
    bias: { queryKeyValue: true, output: true },
    ropes: (sizes) => Array(sizes.layers).fill(readRope(config, { ...sizes, partial: 0.5 })),
    norm: readLayerNorm(config),
    plain: readPlain(config, { fallback: 'gelu_new' }),
    parallel: 'shared norm',
    logits: { ...AS_THEY_ARE, bias: true },
    names: withBiases({
      attentionNorm: `${AT}.input_layernorm`,
      ...(QKV && { ...QKV, key: QKV.query, value: QKV.query }),
      output: `${AT}.self_attn.dense`,
      up: `${AT}.mlp.fc1`,
      down: `${AT}.mlp.fc2`,
      finalNorm: 'model.final_layernorm',
      head: 'lm_head',
    }),
  });
};
