// RMS norms of taps that lie side by side in a row, each with weights of its own: what some drafters want before they
// project them. Taps outside [first, first + normed) pass unchanged.
import wgsl from '../../../shaders/norm/norm-taps.wgsl?raw';
import type { Gpu } from '../../gpu/device.ts';
import { defineKernel } from '../../gpu/kernel.ts';

export const normTaps = defineKernel({
  name: 'norm-taps',
  wgsl,
  bindings: { input: 'read', weight: 'read', output: 'write' },
  uniforms: { rows: 'u32', taps: 'u32', width: 'u32', first: 'u32', normed: 'u32', epsilon: 'f32' },
  tuning: { threads: 64 as number },
  grid: ({ rows, taps }) => [taps, rows],
});

/** Lanes of a tap, a power of two; on a software adapter each lane adds to the cost of every barrier. */
export const normTapsTuning = ({ software }: Pick<Gpu, 'software'>): { threads: number } => ({
  threads: software ? 8 : 64,
});
