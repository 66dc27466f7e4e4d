// Copies chosen rows of an activation: the last row of a prefill chunk for the head, or tapped rows for a drafter.
import wgsl from '../../../shaders/cache/gather-rows.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const gatherRows = defineKernel({
  name: 'gather-rows',
  wgsl,
  bindings: { input: 'read', indices: 'read', output: 'write' },
  uniforms: { rows: 'u32', width: 'u32' },
  tuning: {},
  grid: ({ rows, width }) => [Math.ceil(width / 256), rows],
});
