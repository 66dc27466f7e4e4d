// Collaborative decoding via speculation (CoS, arXiv 2502.01662). Exact with respect to r, the distribution of all
// models together. A model that reads drafts of the others adds a draft of its own instead of wasting that pass's last
// row, and the others decide on it later. Where drafts are kept, one pass commits a token, so an ensemble of n models
// costs one. A draft is kept with probability min(1, r/q), q being the distribution that it was drawn from; a rejected
// one is replaced from norm(max(0, r − q)), and the drafts after it are dropped.
//
// Two models alternate, as in the paper's alternate proposal. More follow its Algorithm 2, corrected: after a rejection
// it starts again from the first model. Beyond the paper: (1) q is what r would be if all members agreed with the
// proposer: its own distribution where they are weighted, and at a higher temperature where they are contrasted, which
// rejects fewer drafts. (2) γ may follow the acceptance: models that nearly always agree save the readbacks between
// their tokens. (3) With `ahead` above 1 a round goes on until so many drafts can be decided on at once. That saves
// readbacks where all are kept, and costs passes where one is rejected.

import { Acceptance } from '../decode/core/acceptance.ts';
import type { Knobs } from '../decode/core/knobs.ts';
import type { Models } from '../decode/core/system.ts';
import { eachMember, memberRoles } from '../decode/ensemble/combination.ts';
import type { EnsembleDecoder, Member } from '../decode/ensemble/ensemble-decoder.ts';
import { defineEnsemble } from './define-ensemble.ts';

const MOST = 15;

const knobs = {
  gamma: {
    kind: 'numbers',
    label: 'γ, tokens a draft, of each model (0: follows the acceptance)',
    min: 0,
    max: MOST,
    initial: [0],
    oneDraft: 1,
  },
  ahead: { kind: 'number', label: 'Drafts decided on at once', min: 1, max: 16, step: 1, initial: 1 },
} as const satisfies Knobs;

/**
 * A model of less than half the bytes of the next counts as much cheaper. The paper lets it write five tokens in a row.
 */
const MUCH_SMALLER = 0.5;
const LONG_DRAFT = 5;

/**
 * For models of similar cost. A longer draft saves readbacks where all of it is kept, and wastes passes where it is
 * not: for two models γ = 3 pays where more than .98 of the drafts are kept (a simulation of the passes; docs/log/ensembles.md).
 */
const FOLLOWING = { cost: 0.95, most: 3, begin: 0.97, decay: 0.95 };

/**
 * A cheap model's drafts are decided on together with the other members' tokens that they follow: 0.2 readbacks a token
 * instead of 0.3 for the bundled target and draft, for 2 % more passes. Models of similar cost decide at once.
 */
const fit = (models: Models): Knobs => {
  const sizes = memberRoles(models).map((role) => models[role]?.bytes ?? 0);
  const smallest = sizes.lastIndexOf(Math.min(...sizes));
  const cheap = (sizes[smallest] as number) < MUCH_SMALLER * Math.min(...sizes.filter((_, i) => i !== smallest));
  return {
    gamma: { ...knobs.gamma, initial: sizes.map((_, i) => (cheap ? (i === smallest ? LONG_DRAFT : 1) : 0)) },
    ahead: { ...knobs.ahead, initial: cheap ? sizes.length : 1 },
  };
};

/**
 * Lets the members draft and read until `ahead` drafts can be decided on, or all there may be. Returns their number.
 */
const draftAhead = (decoder: EnsembleDecoder, lengthOf: (member: Member) => number, ahead: number): number => {
  for (;;) {
    const { scored, pending, latest, room } = decoder;
    if (scored >= ahead || (scored > 0 && scored === pending)) return scored;
    const unfinished = latest ? Math.min(lengthOf(latest.member) - latest.drafts, room) : 0;
    if (latest && unfinished > 0) {
      decoder.draft(latest.member, unfinished);
      continue;
    }
    // The member that has scored the fewest positions reads what the others drafted, and adds a draft.
    const [next] = decoder.bySize.toSorted((a, b) => a.rows.length - b.rows.length) as [Member];
    if (room > 0) decoder.draft(next, 1);
    else decoder.read(next, 1);
  }
};

/** γ of each member; 0 follows the acceptance. */
const lengthsOf = (gamma: readonly number[], models: Models): readonly number[] =>
  eachMember('gamma', gamma, memberRoles(models).length);

export default defineEnsemble({
  id: 'cos',
  title: 'CoS',
  summary: 'Models draft for each other: each one that checks a draft adds a token for the others to check.',
  knobs,
  variants: [{ knobs: { gamma: [3], ahead: 4 }, drawn: true }],
  fit,
  check: ({ knobs: { gamma }, models }) => void lengthsOf(gamma, models),
  drafts({ knobs: { gamma, ahead }, models }) {
    return Math.min(
      63,
      lengthsOf(gamma, models).reduce((sum, length) => sum + (length || FOLLOWING.most), ahead),
    );
  },
  round(decoder, { knobs: { gamma, ahead }, models }) {
    const lengths = lengthsOf(gamma, models);
    const acceptance = new Acceptance(FOLLOWING);
    const lengthOf = ({ index }: Member): number => lengths[index] || acceptance.drafts;
    return async (context) => {
      const drafts = draftAhead(decoder, lengthOf, ahead);
      const commit = await decoder.verify(context, { drafts, bonus: false });
      acceptance.add(drafts, commit.source.filter((source) => source === 'drafted').length);
      return commit;
    };
  },
});
