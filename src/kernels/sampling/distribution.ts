// The distribution that a draw follows, written out as probabilities, which the verification of sampled drafts needs.
// Reads the same draws as `sample`, and writes the distributions of those that name one.
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
