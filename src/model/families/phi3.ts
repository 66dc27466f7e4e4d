// Phi-3, Phi-3.5 and Phi-4-mini: the LLaMA decoder with fused tensors, and optionally a sliding window in every layer,
// a RoPE that rotates a part of each head, and longrope.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { readDecoder } from './decoder.ts';
import { readRope } from './rope-config.ts';

const QKV = 'model.layers.{i}.self_attn.qkv_proj.weight';
const GATE_UP = 'model.layers.{i}.mlp.gate_up_proj.weight';

export const readPhi3 = (config: Config): Architecture => {
  const window = config.countOrNull('sliding_window');
  config.must('lm_head_bias', false);
  for (const factor of ['full_attn_mod', 'interpolate_factor']) config.must(factor, 1);
  return readDecoder(config, {
    family: 'phi3',
    epsilon: 1e-5,
    names: { query: QKV, key: QKV, value: QKV, gate: GATE_UP, up: GATE_UP },
    windows: (layers) => Array<number | null>(layers).fill(window),
    ropes: (sizes) =>
      Array(sizes.layers).fill(readRope(config, { ...sizes, partial: 1, longrope: true, original: 4096 })),
  });
};
