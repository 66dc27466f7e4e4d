// How many drafts of a DSpark block are verified, by their confidences, on the device (draft-limit.wgsl).
import wgsl from '../../../shaders/markov/draft-limit.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';
import { defineStruct, listOf } from '../../gpu/struct.ts';

/** Drafts of the largest block. */
export const MOST_LIMITED = 16;

/** `each` and `survival` compare with a threshold; `schedule` stops where the tokens for the cost no longer rise. */
export const LIMIT_RULES = ['each', 'survival', 'schedule'] as const;

export const DRAFT_LIMIT = defineStruct('DraftLimit', {
  /** An index of LIMIT_RULES. */
  rule: 'u32',
  /** Row of the first draft among the confidences, and how many there are. */
  first: 'u32',
  count: 'u32',
  threshold: 'f32',
  /** Of each draft's logit. */
  divisors: listOf('f32', MOST_LIMITED),
  /** Of a pass over 0, 1 … drafts and the anchor. */
  costs: listOf('f32', MOST_LIMITED + 1),
});

export const draftLimit = defineKernel({
  name: 'draft-limit',
  wgsl,
  bindings: { job: 'read', confidence: 'read', limit: 'write' },
  uniforms: { stride: 'u32' },
  tuning: {},
  grid: () => [1],
});
