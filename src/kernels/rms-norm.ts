// RMS norm of whole rows. Tensors are a multiple of 16 bytes, pads zero, so the last vec4 of an odd width is harmless.
import wgsl from '../../shaders/rms-norm.wgsl?raw';
import type { Gpu } from '../gpu/device.ts';
import { defineKernel } from '../gpu/kernel.ts';

export const rmsNorm = defineKernel({
  name: 'rms-norm',
  wgsl,
  bindings: { input: 'read', weight: 'read', output: 'write' },
  uniforms: { rows: 'u32', width: 'u32', epsilon: 'f32' },
  tuning: { threads: 64 as number },
  grid: ({ rows }, { threads }) => [threads === 1 ? Math.ceil(rows / 8) : rows],
});

/** Lanes a row, a power of two. On a CPU in disguise one lane a row, because barriers cost most there. */
export const rmsNormTuning = ({ software }: Pick<Gpu, 'software'>): { threads: number } => ({
  threads: software ? 1 : 64,
});
