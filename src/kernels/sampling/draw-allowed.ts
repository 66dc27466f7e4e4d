// Draws tokens among those that a constraint allows. It reads the same draws as `sample`, and gives the same token
// where that one is allowed (docs/decisions/0030-constraints.md).
import wgsl from '../../../shaders/sampling/draw-allowed.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const drawAllowed = defineKernel({
  name: 'draw-allowed',
  wgsl,
  /** `allowed`: bit t % 32 of word t / 32 is 1 where token t may be drawn; one set for all draws. */
  bindings: { logits: 'read', draws: 'read', allowed: 'read', choices: 'write' },
  /** `rows`: number of draws. `stride`: elements between rows of logits. */
  uniforms: { rows: 'u32', vocabulary: 'u32', stride: 'u32' },
  tuning: { threads: 256 as number },
  grid: ({ rows }) => [rows],
});

/** Words of a set of allowed tokens. */
export const allowedWords = (vocabulary: number): number => Math.ceil(vocabulary / 32);

export const isAllowed = (allowed: Uint32Array, token: number): boolean =>
  (((allowed[token >>> 5] ?? 0) >>> (token & 31)) & 1) === 1;
