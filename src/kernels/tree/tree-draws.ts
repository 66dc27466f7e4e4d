// Positions of the draws that verify a tree which only the device knows (kernels/tree/tree.ts): randomness is keyed by them.
import wgsl from '../../../shaders/tree/tree-draws.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const treeDraws = defineKernel({
  name: 'tree-draws',
  wgsl,
  /** `place`: as tree-rows.ts packs it; of it the position of node 0 is read. Draw i is the one behind node i. */
  bindings: { place: 'read', nodes: 'read', draws: 'update' },
  uniforms: { nodes: 'u32' },
  tuning: {},
  grid: () => [1],
});
