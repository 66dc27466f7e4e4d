// Speculative decoding of an ensemble: the smallest model drafts γ tokens from its own distribution q, every model reads them, and
// each stays with probability min(1, r/q), r being the distribution of all models together; a rejected one is replaced from
// norm(max(0, r − q)), and behind drafts that are all kept a bonus token is drawn from r. The comparison that the CoS
// paper (arXiv 2502.01662) calls SD. Exact with respect to r. For the bonus the proposer too reads its last draft.

import type { NumberKnob } from '../decode/core/knobs.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import type { Joint, Member } from '../decode/ensemble/collaboration.ts';
import { combinationKnobs, fitCombination } from '../decode/ensemble/combination.ts';

const MOST = 15;

export const speculationKnobs = {
  ...combinationKnobs,
  gamma: {
    kind: 'number',
    label: 'γ, tokens a draft',
    min: 1,
    max: MOST,
    step: 1,
    initial: 5,
    oneDraft: 1,
  } satisfies NumberKnob,
} as const;

/** The smallest member drafts, the others read; how many drafts that were. */
export const propose = (joint: Joint, gamma: number, bonus: boolean): { drafts: number; bonus: boolean } => {
  const [proposer] = joint.bySize as readonly [Member];
  const drafts = Math.min(gamma, joint.room);
  joint.draft(proposer, drafts);
  // A bonus that the budget would cut is none.
  const decision = { drafts, bonus: bonus && joint.room > 0 };
  for (const member of joint.members) joint.read(member, decision.bonus ? 0 : 1);
  return decision;
};

export default {
  id: 'ensemble-speculative',
  title: 'Ensemble, speculative',
  summary: 'The smallest model writes ahead; all models together decide on what it wrote.',
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
    const joint = await join(run, MOST + 1);
    return {
      first: await joint.first(run),
      round: (context) => joint.verify(context, propose(joint, run.knobs.gamma, true)),
    };
  },
} satisfies DecodingSystem<typeof speculationKnobs>;
