// The distribution that a draw follows, written out as probabilities: what sampled drafts are verified with. Reads the very draws
// that `sample` does, and writes those that name a distribution.
import wgsl from '../../../shaders/sampling/distribution.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const distribution = defineKernel({
  name: 'distribution',
  wgsl,
  /** `distributions`: `[entries][stride]`. */
  bindings: { logits: 'read', draws: 'read', distributions: 'write' },
  uniforms: { rows: 'u32', vocabulary: 'u32', stride: 'u32' },
  tuning: { threads: 256 as number },
  grid: ({ rows }) => [rows],
});
