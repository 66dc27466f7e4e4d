// The rows of the target's pass over a tree that only the device knows (tree.ts grows it).
import wgsl from '../../../shaders/tree/tree-rows.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

/** Where a tree lies behind a cursor, and which of its nodes a pass has. */
export interface TreePlace {
  readonly first: number;
  readonly count: number;
  /** As in rows.ts: the shared past, and where the cursor's own slots begin. */
  readonly prefix: number;
  readonly start: number;
  /** Slot of node 0. */
  readonly base: number;
  /** Of node 0. */
  readonly position: number;
  /** Positions that a row sees, itself included; null = all. */
  readonly window: number | null;
}

/** `struct Place` in the shader. */
export const PLACE_WORDS = 7;

export const packPlace = ({ first, count, prefix, start, base, position, window }: TreePlace): Uint32Array =>
  Uint32Array.of(first, count, prefix, start, base, position, window ?? 0);

export const treeRows = defineKernel({
  name: 'tree-rows',
  wgsl,
  bindings: { place: 'read', nodes: 'read', rows: 'write' },
  uniforms: { rows: 'u32' },
  tuning: {},
  grid: () => [1],
});
