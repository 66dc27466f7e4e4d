// RMS norm of whole rows: y = x / sqrt(mean(x²) + epsilon) · weight. Rows are f32 and padded with zeros to 32 columns, so
// the last vec4 of an odd width adds nothing; `weight` is f32 [width]. A workgroup has one row, or eight where a row has a
// single lane.
import wgsl from '../../../shaders/norm/rms-norm.wgsl?raw';
import addWgsl from '../../../shaders/norm/rms-norm-add.wgsl?raw';
import tapWgsl from '../../../shaders/norm/rms-norm-tap.wgsl?raw';
import type { Gpu } from '../../gpu/device.ts';
import { defineKernel } from '../../gpu/kernel.ts';

const uniforms = { rows: 'u32', width: 'u32', epsilon: 'f32' } as const;

const shape = {
  tuning: { threads: 64 as number },
  grid: ({ rows }: { readonly rows: number }, { threads }: { readonly threads: number }) =>
    [threads === 1 ? Math.ceil(rows / 8) : rows] as const,
} as const;

export const rmsNorm = defineKernel({
  name: 'rms-norm',
  wgsl,
  bindings: { input: 'read', weight: 'read', output: 'write' },
  uniforms,
  ...shape,
});

/** Adds `scale` times the norm to `output`. */
export const rmsNormAdd = defineKernel({
  name: 'rms-norm-add',
  wgsl: addWgsl,
  bindings: { input: 'read', weight: 'read', output: 'update' },
  uniforms: { ...uniforms, scale: 'f32' },
  ...shape,
});

/** `rmsNorm`, and a copy of its input in `tap`, which would cost a dispatch of its own elsewhere. */
export const rmsNormTap = defineKernel({
  name: 'rms-norm-tap',
  wgsl: tapWgsl,
  bindings: { input: 'read', weight: 'read', output: 'write', tap: 'write' },
  uniforms,
  ...shape,
});

/** Lanes of a row, a power of two. On software adapters one, because barriers cost most there. */
export const rmsNormTuning = ({ software }: Pick<Gpu, 'software'>): { threads: number } => ({
  threads: software ? 1 : 256,
});
