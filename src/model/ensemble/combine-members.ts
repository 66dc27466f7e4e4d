// How models are combined into one distribution, and what can be asked of an ensemble. Pure arithmetic: toy ensembles
// and the device's call it, and it refuses what cannot be done before anything runs.

import { refuse } from '../../base/refuse.ts';
import { MOST_MEMBERS, MOST_PENDING, MOST_POSITIONS } from '../../kernels/ensemble/ensemble-structs.ts';
import type { Combination, EnsembleChain, LanguageModel, Sampling } from '../interface.ts';

const whole = (value: number, from: number, to: number): boolean =>
  Number.isInteger(value) && value >= from && value <= to;

export const checkModels = (models: readonly LanguageModel[], drafts: number): void => {
  const sizes = models.map(({ vocabulary }) => vocabulary);
  if (!whole(models.length, 2, MOST_MEMBERS))
    throw refuse(`an ensemble of ${models.length} models; 2 to ${MOST_MEMBERS} can be joined`);
  if (new Set(sizes).size > 1) throw refuse(`models of ${sizes.join(' and ')} tokens`, 'Members share one vocabulary.');
  if (!whole(drafts, 0, MOST_POSITIONS - 1))
    throw refuse(`chains of ${drafts} drafts; the most is ${MOST_POSITIONS - 1}`);
};

/**
 * The weight of each row in r: the members' rows; with contrastive decoding also their difference, and the proposer's
 * row.
 */
export const sharesOf = (combination: Combination, members: number): readonly number[] => {
  if (combination.kind === 'contrastive') {
    if (!Number.isFinite(combination.mu)) throw refuse(`contrastive decoding with μ = ${combination.mu}`);
    return [...Array<number>(members).fill(0), 1, 0];
  }
  const { weights } = combination;
  const sum = weights.reduce((a, b) => a + b, 0);
  const usable = weights.every((weight) => weight >= 0) && sum > 0 && Number.isFinite(sum);
  if (weights.length !== members || !usable)
    throw refuse(`weights [${weights.join(', ')}] for ${members} models`, 'One weight a model, 0 or more, not all 0.');
  return weights.map((weight) => weight / sum);
};

/**
 * The highest factor on the temperature of drafts: beyond it, what the others say matters more than the proposer's row.
 */
const FLATTEST = 2;

/**
 * Drafts are drawn from what r would be if all members agreed with the proposer. Weighted, that is the proposer's own
 * distribution. With contrastive decoding its logits shrink to 1 − μ of what they are, which is a higher temperature;
 * drafts from its own distribution would be refused where r, which is flatter, wants another token.
 */
export const draftingOf = (combination: Combination, sampling: Sampling): Sampling =>
  combination.kind === 'weighted'
    ? sampling
    : { ...sampling, temperature: sampling.temperature / Math.max(1 - combination.mu, 1 / FLATTEST) };

interface Limits {
  readonly members: number;
  readonly drafts: number;
  readonly vocabulary: number;
}

export const checkChain = (chain: EnsembleChain, { members, drafts, vocabulary }: Limits): void => {
  const { tokens, proposers, rows, bonus, pending } = chain;
  if (tokens.length > drafts) throw refuse(`${tokens.length} drafts; this ensemble takes ${drafts}`);
  if (proposers.length !== tokens.length || rows.length !== tokens.length)
    throw refuse(`${tokens.length} drafts, ${proposers.length} proposers and rows for ${rows.length}`);
  if (tokens.length === 0 && !bonus) throw refuse('a chain without drafts and without a bonus');
  if (pending.length > MOST_PENDING) throw refuse(`${pending.length} tokens pending; the most is ${MOST_PENDING}`);
  for (const each of bonus ? [...rows, bonus] : rows)
    if (each.length !== members) throw refuse(`${each.length} rows of a position that ${members} models score`);
  for (const proposer of proposers)
    if (!whole(proposer, 0, members - 1)) throw refuse(`member ${proposer} of ${members} as a proposer`);
  for (const token of tokens)
    if (typeof token === 'number' && !whole(token, 0, vocabulary - 1))
      throw refuse(`token ${token} is outside the vocabulary of ${vocabulary}`);
};
