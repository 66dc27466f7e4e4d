// Short causal convolutions over the rows of a pass and what the slots of earlier rows hold: LFM2's gated one, and that
// of a gated delta net. A row's input stays at its slot, as its key would, so trees, forks and rejected rows need no
// care of their own.
import gatedWgsl from '../../../shaders/convolution/gated-convolution.wgsl?raw';
import siluWgsl from '../../../shaders/convolution/silu-convolution.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

/** Words of one slot: channels in pairs, at f32 or f16. */
export const keptWords = (channels: number, half: boolean): number => Math.ceil(channels / 2) * (half ? 1 : 2);

/**
 * `weight`: `[channel][tap]`, the last tap being the row itself, and then, where `biased` is 1, a bias for each channel.
 * `width`: elements in a row of the input.
 */
const convolution = (name: string, wgsl: string) =>
  defineKernel({
    name,
    wgsl,
    bindings: { input: 'read', rows: 'read', weight: 'read', kept: 'update', output: 'write' },
    uniforms: { rows: 'u32', channels: 'u32', taps: 'u32', width: 'u32', half: 'u32', biased: 'u32' },
    tuning: {},
    grid: ({ channels }) => [Math.ceil(channels / 128)],
  });

/** A row of the input is B, C and u side by side: C · conv(B · u). */
export const gatedConvolution = convolution('gated-convolution', gatedWgsl);

/** A row of the input begins with the channels: silu(conv(input)). */
export const siluConvolution = convolution('silu-convolution', siluWgsl);
