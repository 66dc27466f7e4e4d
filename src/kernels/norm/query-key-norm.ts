// RMS norms of a row's queries, all heads as one, and of its keys (OLMo 2), in place. Where every head is normed by
// itself, rope-append.ts does it. `tuning` is that of rms-norm.ts.
import wgsl from '../../../shaders/norm/query-key-norm.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

/** `stride`: floats from one row of `qkv` to the next; `queries` and `keys`: how many of them come first, and next. */
export const queryKeyNorm = defineKernel({
  name: 'query-key-norm',
  wgsl,
  bindings: { queryNorm: 'read', keyNorm: 'read', qkv: 'update' },
  uniforms: { rows: 'u32', stride: 'u32', queries: 'u32', keys: 'u32', epsilon: 'f32' },
  tuning: { threads: 64 as number },
  grid: ({ rows }) => [rows, 2],
});
