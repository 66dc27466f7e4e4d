// Collaborative decoding via speculation (CoS, arXiv 2502.01662). Exact with respect to r, the distribution of all models together.
// Every model that reads drafts of the others adds one of its own, which the others decide on later instead of throwing
// that pass's last row away: where drafts are kept, one pass commits a token, and an ensemble of n models costs one. A draft
// stays with probability min(1, r/q), q being what its proposer drew it from; a rejected one is replaced from
// norm(max(0, r − q)), and everything behind it is forgotten. Beyond the paper, q is what r would be, did all members say
// what the proposer says: weighted its own distribution, contrasted its own at a higher temperature, where fewer are rejected.
// Two models take turns (the paper's alternate proposal); more follow its Algorithm 2, corrected: after a rejection it
// starts again from the first model. Beyond the paper, too: γ may follow the acceptance, since models that nearly always
// agree save the readbacks between their tokens. With `ahead` above 1 a round goes on until so many drafts can be decided on at once,
// which costs passes where one of them is rejected and saves readbacks where none is.

import type { NumberKnob, NumbersKnob } from '../decode/core/knobs.ts';
import type { DecodingSystem, Models } from '../decode/core/system.ts';
import type { Joint, Member } from '../decode/ensemble/collaboration.ts';
import { combinationKnobs, eachMember, fitCombination, memberRoles } from '../decode/ensemble/combination.ts';

const MOST = 15;

const knobs = {
  ...combinationKnobs,
  gamma: {
    kind: 'numbers',
    label: 'γ, tokens a draft, of each model (0: follows the acceptance)',
    min: 0,
    max: MOST,
    initial: [0],
    oneDraft: 1,
  } satisfies NumbersKnob,
  ahead: {
    kind: 'number',
    label: 'Drafts decided on at once',
    min: 1,
    max: 16,
    step: 1,
    initial: 1,
  } satisfies NumberKnob,
} as const;

/** Where one model is much cheaper than the others, the paper lets it write five tokens on end. */
const MUCH_SMALLER = 0.5;
const LONG_DRAFT = 5;

/**
 * Models that cost alike. A longer draft saves readbacks where all of it is kept, and loses passes where not: of two models,
 * γ = 3 pays where more than .98 of the drafts are kept (a simulation of the passes; docs/log.md).
 */
const FOLLOWING = { cost: 0.95, most: 3, begin: 0.97, decay: 0.95 };

/**
 * A cheap model's drafts are decided on together with the bonus tokens that they follow: 0.2 readbacks a token instead of
 * 0.3 for the bundled target and draft, for 2 % more passes. Of models that cost alike none decides ahead.
 */
const fit = (models: Models) => {
  const sizes = memberRoles(models).map((role) => models[role]?.bytes ?? 0);
  const smallest = sizes.lastIndexOf(Math.min(...sizes));
  const cheap = (sizes[smallest] as number) < MUCH_SMALLER * Math.min(...sizes.filter((_, i) => i !== smallest));
  return {
    ...fitCombination(models),
    gamma: { ...knobs.gamma, initial: sizes.map((_, i) => (cheap ? (i === smallest ? LONG_DRAFT : 1) : 0)) },
    ahead: { ...knobs.ahead, initial: cheap ? sizes.length : 1 },
  };
};

/** Until `ahead` drafts can be decided on, or all there may be. */
const gather = (joint: Joint, lengthOf: (member: Member) => number, ahead: number): number => {
  for (;;) {
    const { decidable, waiting, last, room } = joint;
    if (decidable >= ahead || (decidable > 0 && decidable === waiting)) return decidable;
    const unfinished = last ? Math.min(lengthOf(last.member) - last.drafts, room) : 0;
    if (last && unfinished > 0) {
      joint.draft(last.member, unfinished);
      continue;
    }
    // Whoever has said least: it reads what the others drafted, and adds a token of its own.
    const [next] = joint.bySize.toSorted((a, b) => a.rows.length - b.rows.length) as [Member];
    if (room > 0) joint.draft(next, 1);
    else joint.read(next, 1);
  }
};

export default {
  id: 'cos',
  title: 'CoS',
  summary: 'Models draft for each other: each one that checks a draft adds a token for the others to check.',
  group: 'ensemble',
  paper: 'https://arxiv.org/abs/2502.01662',
  guarantee: 'exact',
  baseline: 'ensemble',
  needs: ['target', 'draft'],
  joins: true,
  knobs,
  variants: [
    { knobs: { combine: 'weighted' }, drawn: true },
    { knobs: { combine: 'contrastive' }, drawn: true },
  ],
  fit,
  async start(run) {
    const { gamma, ahead } = run.knobs;
    const lengths = eachMember('gamma', gamma, memberRoles(run.models).length);
    const { join } = await import('../decode/ensemble/collaboration.ts');
    const { Acceptance } = await import('../decode/ensemble/acceptance.ts');
    const most = lengths.reduce((sum, length) => sum + (length || FOLLOWING.most), ahead);
    const joint = await join(run, Math.min(63, most));
    const acceptance = new Acceptance(FOLLOWING);
    const lengthOf = ({ index }: Member): number => lengths[index] || acceptance.drafts;
    return {
      first: await joint.first(run),
      async round(context) {
        const drafts = gather(joint, lengthOf, ahead);
        const commit = await joint.verify(context, { drafts, bonus: false });
        acceptance.add(drafts, commit.source.filter((source) => source === 'drafted').length);
        return commit;
      },
    };
  },
} satisfies DecodingSystem<typeof knobs>;
