// GLM (GLM-4, GLM-Edge): the LLaMA decoder with gate and up in one tensor and biases on q, k and v. RoPE rotates adjacent
// elements of the first part of each head.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readRope } from './rope-config.ts';

const GATE_UP = 'model.layers.{i}.mlp.gate_up_proj.weight';

export const readGlm = (config: Config): Architecture =>
  readDecoder(config, {
    family: 'glm',
    epsilon: 1.5625e-7,
    sizes: { keyValueHeads: 2, headDim: 128 },
    pairs: 'adjacent',
    bias: { queryKeyValue: config.flag('attention_bias', true), output: false },
    names: { gate: GATE_UP, up: GATE_UP },
    ropes: (sizes) => Array(sizes.layers).fill(readRope(config, { ...sizes, partial: 0.5 })),
  });
