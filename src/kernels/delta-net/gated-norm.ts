// The norm of a delta net's output, head by head, and its gate: rms-norm(x) · weight · silu(gate).
import wgsl from '../../../shaders/delta-net/gated-norm.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

/** `gates`: rows of `width` elements, the gates from element `firstGate` on. */
export const gatedNorm = defineKernel({
  name: 'gated-norm',
  wgsl,
  bindings: { input: 'read', gates: 'read', weight: 'read', output: 'write' },
  uniforms: { rows: 'u32', heads: 'u32', headDim: 'u32', width: 'u32', firstGate: 'u32', epsilon: 'f32' },
  tuning: {},
  grid: ({ rows, heads, headDim }) => [Math.ceil((heads * headDim) / 64), rows],
});
