// LayerNorm of whole rows: y = (x − mean) / sqrt(variance + epsilon) · weight + bias. `weight` is f32, `width` weights and
// where `biased` is 1 as many biases after them. Rows and `threads` are those of rms-norm.ts.
import wgsl from '../../../shaders/norm/layer-norm.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const layerNorm = defineKernel({
  name: 'layer-norm',
  wgsl,
  bindings: { input: 'read', weight: 'read', output: 'write' },
  uniforms: { rows: 'u32', width: 'u32', epsilon: 'f32' },
  tuning: { threads: 64 as number, biased: 1 as number },
  grid: ({ rows }, { threads }) => [threads === 1 ? Math.ceil(rows / 8) : rows],
});
