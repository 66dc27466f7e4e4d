// Attention for GPUs: see attention.ts.

import reduce from '../../../shaders/attention/attention-reduce.wgsl?raw';
import split from '../../../shaders/attention/attention-split.wgsl?raw';
import keyed from '../../../shaders/include/attention-keys.wgsl?raw';
import tile from '../../../shaders/include/attention-tile.wgsl?raw';
import visibility from '../../../shaders/include/rows.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';
import { type Attention, CHUNK, quartetsOf } from './attention-shape.ts';

export const attentionSplit = defineKernel({
  name: 'attention-split',
  wgsl: visibility + keyed + split,
  bindings: { query: 'read', keys: 'read', values: 'read', rows: 'read', scratch: 'write' },
  uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', headDim: 'u32', capacity: 'u32', scale: 'f32' },
  tuning: { half: 0 },
  grid: (shape, _, { keys }) => [Math.ceil(keys / CHUNK), shape.keyValueHeads, quartetsOf(shape)],
});

export const attentionReduce = defineKernel({
  name: 'attention-reduce',
  wgsl: `${visibility}const quartets = 1u;\n${tile}${reduce}`,
  bindings: { rows: 'read', scratch: 'read', output: 'write' },
  uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', headDim: 'u32', capacity: 'u32' },
  tuning: { branched: 1 },
  grid: (shape) => [Math.ceil(shape.headDim / 64), shape.keyValueHeads, quartetsOf(shape)],
});

export const splitAttention: Attention = (plan, { query, keys, values, rows, scratch, output }, { half, ...shape }) => {
  const scale = Math.LOG2E / Math.sqrt(shape.headDim);
  attentionSplit(plan, { query, keys, values, rows, scratch }, { ...shape, scale }, { half });
  attentionReduce(plan, { rows, scratch, output }, shape);
};
