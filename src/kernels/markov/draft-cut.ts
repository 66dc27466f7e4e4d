// The cut of a DSpark block by its confidences, on the device (draft-cut.wgsl).
import wgsl from '../../../shaders/markov/draft-cut.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';
import { defineStruct, listOf } from '../../gpu/struct.ts';

/** Drafts of the largest block. */
export const MOST_CUT = 16;

/** `each` and `survival` compare with a threshold; `schedule` stops where the tokens for the cost no longer rise. */
export const CUT_RULES = ['each', 'survival', 'schedule'] as const;

export const DRAFT_CUT = defineStruct('DraftCut', {
  /** An index of CUT_RULES. */
  rule: 'u32',
  /** Row of the first draft among the confidences, and how many there are. */
  first: 'u32',
  count: 'u32',
  threshold: 'f32',
  /** Of each draft's logit. */
  divisors: listOf('f32', MOST_CUT),
  /** Of a pass over 0, 1 … drafts and the anchor. */
  costs: listOf('f32', MOST_CUT + 1),
});

export const draftCut = defineKernel({
  name: 'draft-cut',
  wgsl,
  bindings: { cut: 'read', confidence: 'read', limit: 'write' },
  uniforms: { stride: 'u32' },
  tuning: {},
  grid: () => [1],
});
