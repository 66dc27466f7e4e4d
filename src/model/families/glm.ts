// GLM (GLM-4, GLM-Edge): the LLaMA decoder with gate and up in one tensor and biases on q, k and v. RoPE rotates adjacent
// elements of the first part of each head. GLM-4-0414 has norms before and after every part.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { type DecoderDifferences, readDecoder } from './decoder.ts';
import { readRope } from './rope-config.ts';

const AT = 'model.layers.{i}';
const GATE_UP = `${AT}.mlp.gate_up_proj.weight`;
const NAMES: Architecture['names'] = { gate: GATE_UP, up: GATE_UP };

const readAlike = (config: Config, differences: Partial<DecoderDifferences>): Architecture =>
  readDecoder(config, {
    family: 'glm',
    epsilon: 1.5625e-7,
    sizes: { keyValueHeads: 2, headDim: 128 },
    pairs: 'adjacent',
    bias: { queryKeyValue: config.flag('attention_bias', true), output: false },
    names: NAMES,
    ropes: (sizes) => Array(sizes.layers).fill(readRope(config, { ...sizes, partial: 0.5 })),
    ...differences,
  });

export const readGlm = (config: Config): Architecture => readAlike(config, {});

export const readGlm4 = (config: Config): Architecture =>
  readAlike(config, {
    family: 'glm4',
    norms: 'both',
    names: {
      ...NAMES,
      attentionPostNorm: `${AT}.post_self_attn_layernorm.weight`,
      feedForwardPostNorm: `${AT}.post_mlp_layernorm.weight`,
    },
  });
