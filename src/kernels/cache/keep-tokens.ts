// The tokens of a pass's rows, kept at the rows' slots (cache/long-rope.ts).
import wgsl from '../../../shaders/cache/keep-tokens.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const keepTokens = defineKernel({
  name: 'keep-tokens',
  wgsl,
  bindings: { rows: 'read', tokenRing: 'read', tokens: 'update' },
  uniforms: { rows: 'u32' },
  tuning: {},
  grid: ({ rows }) => [Math.ceil(rows / 16)],
});
