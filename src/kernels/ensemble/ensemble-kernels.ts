// A combined distribution r, and the verification of a chain of drafts under it, from the rows of raw logits that every
// member left for every position. Four kernels in order: `contrast`, where r is made of logits; `softmaxStatistics` of
// each row; `chainEnd`, the token that r has where the chain ends; `verifyEnsemble`, the verdict. None of them writes
// out a distribution: the largest thing they leave is the row that contrasts the others.

import chainEndText from '../../../shaders/ensemble/chain-end.wgsl?raw';
import combinedLogitsText from '../../../shaders/ensemble/combined-logits.wgsl?raw';
import contrastText from '../../../shaders/ensemble/contrast.wgsl?raw';
import statisticsText from '../../../shaders/ensemble/softmax-statistics.wgsl?raw';
import verifyText from '../../../shaders/ensemble/verify-ensemble.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

/**
 * `distributions`: of a position (ensemble-structs.ts). `stride`: of the rows. `slices`: workgroups that share a
 * search.
 */
const uniforms = {
  positions: 'u32',
  members: 'u32',
  distributions: 'u32',
  vocabulary: 'u32',
  stride: 'u32',
  slices: 'u32',
} as const;

export const contrast = defineKernel({
  name: 'contrast',
  wgsl: contrastText,
  bindings: { job: 'read', rows: 'update' },
  uniforms,
  tuning: {},
  grid: ({ vocabulary, positions }) => [Math.ceil(vocabulary / 64), positions],
});

export const softmaxStatistics = defineKernel({
  name: 'softmax-statistics',
  wgsl: statisticsText,
  bindings: { job: 'read', logits: 'read', statistics: 'write' },
  uniforms,
  tuning: { threads: 256 as number },
  grid: ({ distributions, positions }) => [distributions, positions],
});

export const chainEnd = defineKernel({
  name: 'chain-end',
  wgsl: chainEndText,
  bindings: { job: 'read', logits: 'read', statistics: 'read', tokenRing: 'read', chainEnd: 'write' },
  uniforms,
  tuning: { threads: 256 as number },
  grid: ({ slices, positions }) => [slices, positions],
});

export const verifyEnsemble = defineKernel({
  name: 'verify-ensemble',
  wgsl: verifyText,
  bindings: { job: 'read', logits: 'read', statistics: 'read', tokenRing: 'read', chainEnd: 'read', verdict: 'write' },
  uniforms,
  tuning: { threads: 256 as number },
  grid: () => [1],
});

/** r of the first position written out, as a row of logits. */
export const combinedLogits = defineKernel({
  name: 'combined-logits',
  wgsl: combinedLogitsText,
  bindings: { job: 'read', logits: 'read', statistics: 'read', mixed: 'write' },
  uniforms,
  tuning: {},
  grid: ({ vocabulary }) => [Math.ceil(vocabulary / 64)],
});

/** Workgroups that share the search for one token; of fewer than 8192 tokens each, more workgroups gain nothing. */
export const slicesOf = (vocabulary: number): number => Math.min(32, Math.ceil(vocabulary / 8192));
