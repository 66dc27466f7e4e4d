// LFM2's gated short convolution over the rows of a pass and what their slots hold of earlier rows. A row's input stays
// at its slot, as its key would, so trees, forks and rejected rows need no care of their own.
import wgsl from '../../../shaders/convolution/gated-convolution.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

/** Words of one slot: channels in pairs, at f32 or f16. */
export const keptWords = (channels: number, half: boolean): number => Math.ceil(channels / 2) * (half ? 1 : 2);

/** `input`: B, C and u side by side. `weight`: `[channel][tap]`, the last tap being the row itself. */
export const gatedConvolution = defineKernel({
  name: 'gated-convolution',
  wgsl,
  bindings: { input: 'read', rows: 'read', weight: 'read', kept: 'update', output: 'write' },
  uniforms: { rows: 'u32', channels: 'u32', taps: 'u32', half: 'u32' },
  tuning: {},
  grid: ({ channels }) => [Math.ceil(channels / 128)],
});
