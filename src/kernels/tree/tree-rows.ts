// The rows of the target's pass over a tree that only the device knows (grow-tree.ts grows it).
import wgsl from '../../../shaders/tree/tree-rows.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';
import { defineStruct, type Packed } from '../../gpu/struct.ts';

/** Where a tree lies after a cursor's rows, and which of its nodes a pass has: [first, first + count). */
export const TREE_PLACE = defineStruct('TreePlace', {
  first: 'u32',
  count: 'u32',
  /** As in rows.ts: the shared past, and where the cursor's own slots begin. */
  prefix: 'u32',
  start: 'u32',
  /** Slot of node 0. */
  base: 'u32',
  /** Of node 0. */
  position: 'u32',
  /** As in rows.ts. */
  state: 'u32',
  /** Positions that a row sees, itself included; 0 = all. */
  window: 'u32',
});

export interface TreePlace extends Omit<Packed<typeof TREE_PLACE>, 'window'> {
  /** Null = all positions are seen. */
  readonly window: number | null;
}

export const PLACE_WORDS = TREE_PLACE.words;

export const packPlace = ({ window, ...place }: TreePlace): Uint32Array =>
  TREE_PLACE.pack([{ ...place, window: window ?? 0 }]);

export const treeRows = defineKernel({
  name: 'tree-rows',
  wgsl,
  bindings: { place: 'read', nodes: 'read', rows: 'write' },
  uniforms: { rows: 'u32' },
  tuning: {},
  grid: () => [1],
});
