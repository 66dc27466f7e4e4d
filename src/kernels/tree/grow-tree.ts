// Grows a tree of drafts on the device, as EAGLE-2 and EAGLE-3 do: each level takes the most probable tokens after
// every node of a beam (`treeExpand`). The best of them are the next beam and the rows of the drafter's next pass
// (`treeBeam`), and the best of all levels are the draft (`treeSelect`). Nothing is read back: the target's pass over
// the tree takes its rows from the device too (tree-rows.ts).
import beam from '../../../shaders/tree/tree-beam.wgsl?raw';
import expand from '../../../shaders/tree/tree-expand.wgsl?raw';
import select from '../../../shaders/tree/tree-select.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';
import { defineStruct, type Packed } from '../../gpu/struct.ts';
import { MOST_NODES } from '../verify/verdict.ts';

/** Nodes of the widest beam. */
export const MOST_WIDTH = 16;

export const TREE_TASK = defineStruct('TreeTask', {
  /** Nodes of a level's beam, and candidates after each of them; at most MOST_WIDTH. */
  width: 'u32',
  /** Of drafts; (levels - 1) · width is at most 64, the bits of a row's mask. */
  levels: 'u32',
  /** Of the draft, the anchor counted; at most MOST_NODES, and 1 + treeCandidates. */
  nodes: 'u32',
  /** The anchor: by value where `ringEntry` is 0, else an entry of the token ring, plus one. */
  token: 'u32',
  ringEntry: 'u32',
  /** Slot of the drafter's cache for the first row of the first beam; everything before is seen. */
  base: 'u32',
  /** Rotary position of the first beam's rows. */
  position: 'u32',
  /** Row of the logits that the first level is taken from. */
  scored: 'u32',
  /** Row of the drafter's output that its candidates go on from. */
  feature: 'u32',
  /** Positions that a row of a beam sees, itself included; 0 = all. */
  window: 'u32',
});

export type TreeTask = Packed<typeof TREE_TASK>;

export const TASK_WORDS = TREE_TASK.words;

export const packTask = (task: TreeTask): Uint32Array => TREE_TASK.pack([task]);

/** A token that may become a node. */
export const TREE_CANDIDATE = defineStruct('TreeCandidate', {
  token: 'u32',
  /** A candidate, or ANCHOR. */
  parent: 'u32',
  /** Of the pass that scored it. */
  row: 'u32',
  /** The log-probabilities along the path, added up. */
  score: 'f32',
});

/** A candidate of a level's beam, and the mask of its row: the beam nodes on its path. */
export const BEAM_NODE = defineStruct('BeamNode', { candidate: 'u32', maskLow: 'u32', maskHigh: 'u32', spare: 'u32' });

/** Candidates of all levels together. */
export const treeCandidates = ({ width, levels }: Pick<TreeTask, 'width' | 'levels'>): number =>
  width + (levels - 1) * width * width;

/** Of `candidates`, `beam` and `sources`, for the largest task. */
export const CANDIDATE_BYTES = 4 * TREE_CANDIDATE.words * MOST_WIDTH * (MOST_NODES + 1);
export const BEAM_BYTES = 4 * BEAM_NODE.words * MOST_WIDTH;
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
