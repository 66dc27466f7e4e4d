// Attention for GPUs, flash-decoding: a workgroup for each chunk of 64 keys, and a second dispatch that joins the
// chunks.

import reduce from '../../../shaders/attention/attention-reduce.wgsl?raw';
import split from '../../../shaders/attention/attention-split.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';
import { type Attention, CHUNK, pairVectorsOf, scoring } from './attention-shape.ts';

export const attentionSplit = defineKernel({
  name: 'attention-split',
  wgsl: split,
  bindings: { query: 'read', keys: 'read', values: 'read', rows: 'read', scratch: 'write' },
  uniforms: {
    rows: 'u32',
    heads: 'u32',
    keyValueHeads: 'u32',
    headDim: 'u32',
    capacity: 'u32',
    ring: 'u32',
    scale: 'f32',
    softCap: 'f32',
  },
  tuning: { stored: 0 as number, capped: 0 as number },
  grid: (shape, _, { keys }) => [Math.ceil(keys / CHUNK), shape.keyValueHeads, pairVectorsOf(shape)],
});

export const attentionReduce = defineKernel({
  name: 'attention-reduce',
  wgsl: reduce,
  bindings: { rows: 'read', scratch: 'read', output: 'write' },
  uniforms: { rows: 'u32', heads: 'u32', keyValueHeads: 'u32', headDim: 'u32', capacity: 'u32' },
  tuning: { branched: 1 },
  grid: (shape) => [Math.ceil(shape.headDim / 64), shape.keyValueHeads, pairVectorsOf(shape)],
});

export const splitAttention: Attention = (plan, { query, keys, values, rows, scratch, output }, shape) => {
  const { uniforms, tuning } = scoring(shape);
  attentionSplit(plan, { query, keys, values, rows, scratch }, { ...shape, ...uniforms }, tuning);
  attentionReduce(plan, { rows, scratch, output }, shape);
};
