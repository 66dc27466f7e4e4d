// The ensemble again, every model on every token, but the passes of all models in one submit: the device need not wait
// for the host between them. It computes what `ensemble` computes, in the same order. Exact with respect to r.

import type { DecodingSystem } from '../decode/core/system.ts';
import { combinationKnobs, fitCombination } from '../decode/ensemble/combination.ts';
import { together } from './ensemble.ts';

export default {
  id: 'ensemble-parallel',
  title: 'Ensemble, one submit',
  summary: 'The same vote, with the passes of all models in one submission to the GPU.',
  group: 'ensemble',
  paper: 'https://arxiv.org/abs/2502.01662',
  guarantee: 'exact',
  baseline: 'ensemble',
  needs: ['target', 'draft'],
  joins: true,
  knobs: combinationKnobs,
  variants: [
    { knobs: { combine: 'weighted' }, drawn: true },
    { knobs: { combine: 'contrastive' }, drawn: true },
  ],
  fit: fitCombination,
  async start(run) {
    const { join } = await import('../decode/ensemble/collaboration.ts');
    const joint = await join(run);
    return { first: await joint.first(run), round: (context) => together(joint, context) };
  },
} satisfies DecodingSystem<typeof combinationKnobs>;
