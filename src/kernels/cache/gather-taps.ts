// Joins the taps of each row, one after the other: the input of a drafter's projection. `most`: rows that each tap has
// room for.
import wgsl from '../../../shaders/cache/gather-taps.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const gatherTaps = defineKernel({
  name: 'gather-taps',
  wgsl,
  bindings: { input: 'read', output: 'write' },
  uniforms: { rows: 'u32', taps: 'u32', width: 'u32', most: 'u32' },
  tuning: {},
  grid: ({ rows, taps, width }) => [Math.ceil((taps * width) / 64), rows],
});
