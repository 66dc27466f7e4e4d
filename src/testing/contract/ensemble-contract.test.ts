// Every ensemble system against its guarantee: the greedy tokens of r, the models' combined distribution, for two to
// four models, weighted and contrastive (ensemble-distribution.test.ts has the sampled ones). Ensembles that are broken
// in ways that are easy to get wrong must fail.
import { describe, expect, it } from 'vitest';
import cos from '../../systems/cos.ts';
import ensemble from '../../systems/ensemble.ts';
import ensembleParallel from '../../systems/ensemble-parallel.ts';
import { SYSTEMS } from '../../systems/index.ts';
import { committedTokens } from '../../trace/index.ts';
import { JOIN, type JoinRule } from '../toys/toy-ensemble.ts';
import { type EnsembleTrial, greedyFailures, samplingDistance, toyEnsemble } from './ensemble-contract.ts';
import { BROKEN, RUNS } from './system-contract.ts';

/** Every broken ensemble is found out with 10. */
const PROMPTS = process.env.OUTRIDER_FULL === '1' ? 50 : 12;
const TOKENS = 64;
/** As in system-contract.test.ts. */
const MARGIN = 1.5;
const PATIENCE = { timeout: 900_000 };

const ENSEMBLES = SYSTEMS.filter(({ baseline }) => baseline === ensemble.id).map((system) => ({
  system,
  id: system.id,
}));
const COMBINATIONS = [{ combine: 'weighted' }, { combine: 'contrastive' }] as const;
const SIZES = [2, 3, 4];

const every = SIZES.flatMap((members) => COMBINATIONS.map((knobs): EnsembleTrial => ({ members, knobs })));

/** Long drafts of a small model, unequal weights, several decisions at once. */
const UNEQUAL: readonly EnsembleTrial[] = [
  { members: 2, bytes: [9, 1], knobs: { lambda: [0.7] } },
  { members: 3, bytes: [9, 4, 1], knobs: { lambda: [0.2, 0.5, 0.3] } },
  { members: 3, bytes: [9, 1, 4], knobs: { combine: 'contrastive', mu: 0.6 } },
];
const AHEAD: readonly EnsembleTrial[] = [
  { members: 2, knobs: { ahead: 4 } },
  { members: 2, knobs: { gamma: [3] } },
  { members: 3, knobs: { ahead: 2, gamma: [1, 2, 3], combine: 'contrastive' } },
];

describe.each(ENSEMBLES)('$id', ({ system }) => {
  const trials = [...every, ...UNEQUAL, ...(Object.hasOwn(system.knobs, 'ahead') ? AHEAD : [])];
  it.each(trials)(`writes the greedy tokens of r: ${PROMPTS} prompts of ${TOKENS} tokens, %j`, async (trial) => {
    expect(await greedyFailures(system, PROMPTS, TOKENS, trial)).toBe(0);
  });
});

describe('cos', PATIENCE, () => {
  // Four tokens of three words: a third model's bonus token is among them, and decided on.
  it.each([...UNEQUAL, ...AHEAD])(`follows r: four tokens, ${RUNS} seeds, %j`, async (trial) => {
    const { totalVariation, noise } = await samplingDistance(cos, RUNS, trial, { count: 4, vocabulary: 3 });
    expect(totalVariation).toBeLessThan(MARGIN * noise);
  });

  it('follows r where every member filters its own distribution', async () => {
    const filters = { temperature: 0.9, topK: 3, topP: 0.8, minP: 0.05 };
    const { totalVariation, noise } = await samplingDistance(cos, RUNS, { members: 2 }, { filters });
    expect(totalVariation).toBeLessThan(MARGIN * noise);
  });
});

describe('ensemble-parallel', () => {
  it.each(every)('draws the very tokens of ensemble, %j', async (trial) => {
    const distribution = { vocabulary: 12, sharpness: 3 };
    const request = { prompt: { tokens: [1, 2] }, temperature: 1, maxTokens: 40 };
    const [plain, parallel] = [
      await toyEnsemble(ensemble, trial, distribution),
      await toyEnsemble(ensembleParallel, trial, distribution),
    ];
    for (let seed = 0; seed < 10; seed++)
      expect(committedTokens(await parallel.run({ ...request, seed }))).toEqual(
        committedTokens(await plain.run({ ...request, seed })),
      );
  });
});

/** Each with the trial in which it shows. */
const WRONG: Readonly<Record<string, readonly [JoinRule, EnsembleTrial]>> = {
  'roles are combined, and flip with the proposer': [
    { ...JOIN, order: (rows, proposer) => [rows[proposer] ?? [], ...rows.filter((_, member) => member !== proposer)] },
    { members: 2, knobs: { combine: 'contrastive', mu: 0.6 } },
  ],
  'drafts after a rejected token stay': [
    { ...JOIN, forgets: false },
    { members: 2, noise: 6, bytes: [9, 1] },
  ],
  "a bonus token's distribution is taken to be r": [
    { ...JOIN, keeps: (u, r, q, proposer) => proposer === 0 || JOIN.keeps(u, r, q, proposer) },
    { members: 2, noise: 4 },
  ],
  'the residual is made of p, not of r': [
    // Of two models, weighted, p − q and r − q differ by a factor only.
    { ...JOIN, replacement: (_, q, p) => JOIN.replacement(p, q, p) },
    { members: 2, noise: 6, knobs: { combine: 'contrastive', mu: 1 } },
  ],
};

describe('broken ensembles are found out', PATIENCE, () => {
  it.each(Object.entries(WRONG))('sampled: %s', async (_, [join, trial]) => {
    const { totalVariation, noise } = await samplingDistance(cos, 'until found', { ...trial, join });
    expect(totalVariation).toBeGreaterThan(BROKEN * noise);
  });

  it.each(Object.entries(WRONG))('greedy: %s', async (_, [join, trial]) => {
    expect(await greedyFailures(cos, 10, TOKENS, { ...trial, join })).toBeGreaterThan(0);
  });
});
