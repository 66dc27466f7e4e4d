// MiniCPM 1 and 4: the LLaMA decoder with multipliers of the embeddings, of what its parts add, and of the logits; longrope
// in MiniCPM 4.
import type { Architecture } from '../architecture.ts';
import type { Rope } from '../forward/rope-table.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readRope } from './rope-config.ts';

/** Which factors hold depends on the context of the model, and not on the length of a text as in Phi-3. */
const fixed = (rope: Rope, context: number): Rope => {
  const { scaling } = rope;
  if (scaling.type !== 'longrope') return rope;
  const factors = context > scaling.originalContext ? scaling.long : scaling.short;
  return { ...rope, scaling: { ...scaling, short: factors, long: factors } };
};

export const readMiniCPM = (config: Config): Architecture => {
  if (config.has('sparse_config'))
    throw config.error(
      'attention to blocks of keys (sparse_config) is not supported',
      'MiniCPM 1 and MiniCPM 4 without it are.',
    );
  const bias = config.flag('attention_bias', false);
  const embedding = config.number('scale_emb', 1);
  const depth = config.positive('scale_depth', 1);
  const base = config.positive('dim_model_base', 1);
  config.must('num_experts', 0);
  config.ignore('mup_denominator'); // of a draft model's head
  return readDecoder(config, {
    family: 'minicpm',
    tied: true,
    bias: { queryKeyValue: bias, output: bias },
    embeddingScale: () => embedding,
    residualScale: depth / Math.sqrt(config.count('num_hidden_layers')),
    logits: { scale: base / config.count('hidden_size'), softCap: null },
    ropes: (sizes) => {
      const rope = readRope(config, { ...sizes, longrope: true });
      return Array(sizes.layers).fill(fixed(rope, sizes.context));
    },
  });
};
