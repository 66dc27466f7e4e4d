// An ensemble of language models, the plain way: every model reads every token, and the next one is drawn from the distribution r
// that they make together. What the CoS paper (arXiv 2502.01662) measures itself against, and so do the other ensemble
// systems here: theirs is this distribution, and at temperature 0 these tokens.

import type { Commit, DecodingSystem, RoundContext } from '../decode/core/system.ts';
import type { Joint } from '../decode/ensemble/collaboration.ts';
import { combinationKnobs, fitCombination } from '../decode/ensemble/combination.ts';

/** One token; `between` the passes of two members. */
export const together = (joint: Joint, context: RoundContext, between = (): void => {}): Promise<Commit> => {
  for (const [i, member] of joint.members.entries()) {
    if (i > 0) between();
    joint.read(member);
  }
  return joint.verify(context, { drafts: 0, bonus: true });
};

export default {
  id: 'ensemble',
  title: 'Ensemble',
  summary: 'Several models vote on every token, and each of them reads every token.',
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
    return {
      first: await joint.first(run),
      round: (context) => together(joint, context, () => joint.submit()),
    };
  },
} satisfies DecodingSystem<typeof combinationKnobs>;
