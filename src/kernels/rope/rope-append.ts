// The q/k norm, rotary embedding and cache append of a pass's rows, in one dispatch. The norm comes before the rotation
// (normed = 1) or after it (normed = 2). Without one (normed = 0) bind any 16 bytes as the two norm weights; where nothing is rotated (rotated = 0), as the table. `partly` says that
// `rotated` is less than a head. Dead rows get a query, which attention ignores, and write nothing to the
// cache.

import wgsl from '../../../shaders/rope/rope-append.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const ropeAppend = defineKernel({
  name: 'rope-append',
  wgsl,
  bindings: {
    qkv: 'read',
    rows: 'read',
    table: 'read',
    queryNorm: 'read',
    keyNorm: 'read',
    query: 'write',
    keys: 'write',
    values: 'write',
  },
  uniforms: {
    rows: 'u32',
    heads: 'u32',
    keyValueHeads: 'u32',
    headDim: 'u32',
    rotated: 'u32',
    epsilon: 'f32',
    normed: 'u32',
    ring: 'u32',
    stored: 'u32',
  },
  tuning: { partly: 0 as number },
  grid: ({ rows, heads, keyValueHeads, headDim }) => [
    Math.ceil(((heads + 2 * keyValueHeads) * (headDim / 8)) / 64),
    rows,
  ],
});
