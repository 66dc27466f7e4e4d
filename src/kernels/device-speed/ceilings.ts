// Two kernels that measure a device's limits: the speed of reading memory, and of multiply-adds. A benchmark divides
// the engine's figures by them.
import multiplyAddsWgsl from '../../../shaders/device-speed/multiply-adds.wgsl?raw';
import streamWordsWgsl from '../../../shaders/device-speed/stream-words.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

/** `cells` of 16 bytes are read by `lanes` lanes, a multiple of 64; `output` has a word for each lane. */
export const streamWords = defineKernel({
  name: 'stream-words',
  wgsl: streamWordsWgsl,
  bindings: { input: 'read', output: 'write' },
  uniforms: { cells: 'u32', lanes: 'u32' },
  tuning: {},
  grid: ({ lanes }) => [lanes / 64],
});

/** Floating-point operations of one lane in one repeat. */
export const FLOPS_A_REPEAT = 8 * 4 * 2;

export const multiplyAdds = defineKernel({
  name: 'multiply-adds',
  wgsl: multiplyAddsWgsl,
  bindings: { output: 'write' },
  uniforms: { lanes: 'u32', repeats: 'u32', factor: 'f32', term: 'f32' },
  tuning: {},
  grid: ({ lanes }) => [lanes / 64],
});
