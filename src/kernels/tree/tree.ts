// Grows a tree of drafts on the device (EAGLE-3): each level takes the most probable tokens behind every node of a beam
// (`treeExpand`), the best of them are the next beam and the rows of the drafter's next pass (`treeBeam`); the best of
// all levels are the draft (`treeSelect`). Nothing is read back; the target's pass over it takes its rows from the device
// too (tree-rows.ts).
import beam from '../../../shaders/tree/tree-beam.wgsl?raw';
import expand from '../../../shaders/tree/tree-expand.wgsl?raw';
import select from '../../../shaders/tree/tree-select.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';
import { MOST_NODES } from '../verify/verdict.ts';

/** Nodes of the widest beam. */
export const MOST_WIDTH = 16;

export interface TreeTask {
  /** Beam of a level, and candidates behind each of its nodes; at most MOST_WIDTH. */
  readonly width: number;
  /** Of drafts; (levels - 1) · width is at most 64, the bits of a row's mask. */
  readonly levels: number;
  /** Of the draft, the anchor counted; at most MOST_NODES, and 1 + treeCandidates. */
  readonly nodes: number;
  /** The anchor: by value where `ringEntry` is 0, else an entry of the token ring, plus one. */
  readonly token: number;
  readonly ringEntry: number;
  /** Slot of the drafter's cache for the first row of the first beam; everything before is seen. */
  readonly base: number;
  /** Rotary position of the first beam's rows. */
  readonly position: number;
  /** Row of the logits that the first level is taken from. */
  readonly scored: number;
  /** Row of the drafter's output that its candidates go on from. */
  readonly feature: number;
}

/** `struct Task` in the shaders. */
export const TASK_WORDS = 9;

export const packTask = (task: TreeTask): Uint32Array =>
  Uint32Array.of(
    task.width,
    task.levels,
    task.nodes,
    task.token,
    task.ringEntry,
    task.base,
    task.position,
    task.scored,
    task.feature,
  );

/** Candidates of all levels together. */
export const treeCandidates = ({ width, levels }: Pick<TreeTask, 'width' | 'levels'>): number =>
  width + (levels - 1) * width * width;

/** Of `struct Candidate`, `struct Beam` and `sources`, for the largest task. */
export const CANDIDATE_BYTES = 16 * MOST_WIDTH * (MOST_NODES + 1);
export const BEAM_BYTES = 16 * MOST_WIDTH;
export const SOURCE_BYTES = 4 * MOST_WIDTH;

export const treeExpand = defineKernel({
  name: 'tree-expand',
  wgsl: expand,
  /** `ids`: the target's token for each entry of the drafter's vocabulary. */
  bindings: { task: 'read', logits: 'read', ids: 'read', beam: 'read', candidates: 'update' },
  /** `level`: from 1 on. `rows`: of the pass that scored it; 1 at level 1. */
  uniforms: { level: 'u32', rows: 'u32', vocabulary: 'u32', stride: 'u32' },
  tuning: { threads: 256 as number },
  grid: ({ rows }) => [rows],
});

export const treeBeam = defineKernel({
  name: 'tree-beam',
  wgsl: beam,
  /** `sources`: for each row of the next pass, the row of the last one whose output is its feature. */
  bindings: { task: 'read', candidates: 'read', beam: 'update', rows: 'write', sources: 'write' },
  /** `level`: whose candidates are chosen from. `rows`: of the next pass, at least the width. */
  uniforms: { level: 'u32', rows: 'u32' },
  tuning: {},
  grid: () => [1],
});

export const treeSelect = defineKernel({
  name: 'tree-select',
  wgsl: select,
  /** `nodes`: as verdict.ts packs them. */
  bindings: { task: 'read', candidates: 'read', nodes: 'write' },
  uniforms: {},
  tuning: {},
  grid: () => [1],
});
