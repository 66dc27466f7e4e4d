// The gate of a gated attention's output (Qwen3.5): attended · sigmoid(gate).
import wgsl from '../../../shaders/attention/output-gate.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

/** `stride`: elements a row of both, with the padding. */
export const outputGate = defineKernel({
  name: 'output-gate',
  wgsl,
  bindings: { gate: 'read', attended: 'update' },
  uniforms: { rows: 'u32', stride: 'u32' },
  tuning: {},
  grid: ({ rows, stride }) => [Math.ceil(stride / 256), rows],
});
