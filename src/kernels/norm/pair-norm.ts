// RMS norms of two activations, each with its own weights, written one after the other into a row: the input of an
// EAGLE-3 layer. `tuning` is that of rms-norm.ts.
import wgsl from '../../../shaders/norm/pair-norm.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const pairNorm = defineKernel({
  name: 'pair-norm',
  wgsl,
  bindings: { first: 'read', firstWeight: 'read', second: 'read', secondWeight: 'read', output: 'write' },
  uniforms: { rows: 'u32', width: 'u32', epsilon: 'f32' },
  tuning: { threads: 64 as number },
  grid: ({ rows }, { threads }) => [threads === 1 ? Math.ceil(rows / 8) : rows],
});
