// Sets the positions, which key the randomness, of the draws that verify a tree that only the device knows
// (grow-tree.ts).
import wgsl from '../../../shaders/tree/tree-draws.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const treeDraws = defineKernel({
  name: 'tree-draws',
  wgsl,
  /** `place`: as tree-rows.ts packs it, for the position of node 0. Draw i is what follows node i. */
  bindings: { place: 'read', nodes: 'read', draws: 'update' },
  uniforms: { nodes: 'u32' },
  tuning: {},
  grid: () => [1],
});
