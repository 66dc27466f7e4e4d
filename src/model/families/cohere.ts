// Command R and Aya (Cohere): attention and feed-forward part read one LayerNorm of the stream, which has no bias; RoPE
// rotates adjacent elements. In the second generation only layers with a sliding window are rotated.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { type DecoderDifferences, readDecoder, readLayerNorm } from './decoder.ts';
import { readSliding } from './layer-types.ts';
import { readRope } from './rope-config.ts';

const readAlike = (config: Config, differences: Partial<DecoderDifferences>): Architecture => {
  const bias = config.flag('attention_bias', false);
  config.must('use_qk_norm', false);
  return readDecoder(config, {
    family: 'cohere',
    tied: true,
    sizes: { heads: 64, vocabulary: 256_000, context: 8192 },
    bias: { queryKeyValue: bias, output: bias },
    pairs: 'adjacent',
    norm: readLayerNorm(config, { bias: false }),
    parallel: 'shared norm',
    logits: { scale: config.number('logit_scale', 0.0625), softCap: null },
    ropes: (sizes) => Array(sizes.layers).fill(readRope(config, sizes, 500_000)),
    ...differences,
  });
};

export const readCohere = (config: Config): Architecture => readAlike(config, {});

export const readCohere2 = (config: Config): Architecture => {
  const window = config.count('sliding_window', 4096);
  const pattern = config.count('sliding_window_pattern', 4);
  config.ignore('layer_switch', 'use_embedding_sharing'); // the pattern and tie_word_embeddings again
  config.must('order_of_interleaved_layers', 'local_attn_first');
  config.must('position_embedding_type', 'rope_gptj');
  config.must('rotary_pct', 1);
  config.must('use_gated_activation', true);
  config.must('use_parallel_block', true);
  config.must('use_parallel_embedding', false);
  const types = readSliding(config);
  const slides = (layers: number): readonly boolean[] =>
    types(layers) ?? Array.from({ length: layers }, (_, i) => (i + 1) % pattern !== 0);
  return readAlike(config, {
    family: 'cohere2',
    windows: (layers) => slides(layers).map((slid) => (slid ? window : null)),
    ropes: (sizes) => {
      const rope = readRope(config, sizes);
      return slides(sizes.layers).map((slid) => (slid ? rope : null));
    },
  });
};
