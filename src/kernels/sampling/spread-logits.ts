// Logits over a part of the vocabulary (an EAGLE-3 head) as logits over all of it, so that draws, distributions and
// verification have the target's tokens only.
import wgsl from '../../../shaders/sampling/spread-logits.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const spreadLogits = defineKernel({
  name: 'spread-logits',
  wgsl,
  /** `index`: for each token its entry in `part`, or NOT_THERE. */
  bindings: { part: 'read', index: 'read', logits: 'write' },
  /** `rows` rows from `first` on. */
  uniforms: { first: 'u32', rows: 'u32', vocabulary: 'u32', partStride: 'u32', stride: 'u32' },
  tuning: {},
  grid: ({ rows, vocabulary }) => [Math.ceil(vocabulary / 64), rows],
});

export const NOT_THERE = 0xffff_ffff;
