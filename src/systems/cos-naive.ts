// Naive CoS (arXiv 2502.01662): the smallest model drafts γ tokens from its own distribution q, the others read them, each stays
// with probability min(1, r/q), and a rejected one is replaced from norm(max(0, r − q)). No bonus: behind drafts that are
// all kept the next round begins. Exact with respect to r, the distribution of all models together.

import type { DecodingSystem } from '../decode/core/system.ts';
import { fitCombination } from '../decode/ensemble/combination.ts';
import { propose, speculationKnobs } from './ensemble-speculative.ts';

export default {
  id: 'cos-naive',
  title: 'CoS, naive',
  summary: 'The smallest model writes ahead and all decide on it, without a bonus token after kept drafts.',
  group: 'ensemble',
  paper: 'https://arxiv.org/abs/2502.01662',
  guarantee: 'exact',
  baseline: 'ensemble',
  needs: ['target', 'draft'],
  joins: true,
  knobs: speculationKnobs,
  variants: [
    { knobs: { combine: 'weighted' }, drawn: true },
    { knobs: { combine: 'contrastive' }, drawn: true },
  ],
  fit: fitCombination,
  async start(run) {
    const { join } = await import('../decode/ensemble/collaboration.ts');
    const joint = await join(run);
    return {
      first: await joint.first(run),
      round: (context) => joint.verify(context, propose(joint, run.knobs.gamma, false)),
    };
  },
} satisfies DecodingSystem<typeof speculationKnobs>;
