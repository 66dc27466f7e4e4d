// Which drafts the target keeps, decided on the device: `verifyMatch` for drafts that were not drawn at random (lookup,
// greedy blocks, trees; greedy and sampled runs alike), `verifyRatio` for chains of sampled ones. Both write the
// verdict and the cache's moves (verdict.ts) without the host.
import match from '../../../shaders/verify/verify-match.wgsl?raw';
import ratio from '../../../shaders/verify/verify-ratio.wgsl?raw';
import { defineKernel } from '../../gpu/kernel.ts';

export const verifyMatch = defineKernel({
  name: 'verify-match',
  wgsl: match,
  /** Row `job.row` + i of `logits` is what follows node i. */
  bindings: { job: 'read', nodes: 'read', tokenRing: 'read', logits: 'read', verdict: 'write', moves: 'write' },
  uniforms: { stride: 'u32' },
  tuning: {},
  grid: () => [1],
});

export const verifyRatio = defineKernel({
  name: 'verify-ratio',
  wgsl: ratio,
  /**
   * Row i of `logits` (from the job's row on) and of `targetDistributions` (from its distribution on) is what follows
   * node i; both kinds of distributions have the stride of the logits, and may lie in one tensor.
   */
  bindings: {
    job: 'read',
    nodes: 'read',
    tokenRing: 'read',
    logits: 'read',
    targetDistributions: 'read',
    draftDistributions: 'read',
    verdict: 'write',
    moves: 'write',
  },
  uniforms: { vocabulary: 'u32', stride: 'u32' },
  tuning: { threads: 256 as number },
  grid: () => [1],
});
