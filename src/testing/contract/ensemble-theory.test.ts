// Compares speculative ensembles with theory: how often a draft must be kept, how many tokens a round commits, and how
// many passes a token costs.
import { describe, expect, it } from 'vitest';
import type { DecodingSystem } from '../../decode/core/system.ts';
import { distributionReference } from '../../kernels/sampling/sample.reference.ts';
import cos from '../../systems/cos.ts';
import cosNaive from '../../systems/cos-naive.ts';
import ensemble from '../../systems/ensemble.ts';
import ensembleSpeculative from '../../systems/ensemble-speculative.ts';
import { measure, type TraceEvent } from '../../trace/index.ts';
import { JOIN } from '../toys/toy-ensemble.ts';
import { toyLogits } from '../toys/toy-model.ts';
import {
  combinedDistribution,
  type EnsembleTrial,
  memberDistributions,
  PLAIN,
  toyEnsemble,
} from './ensemble-contract.ts';

const DISTRIBUTION = { vocabulary: 6, sharpness: 3 };

const runs = async (system: DecodingSystem, trial: EnsembleTrial, seeds: number, maxTokens = 200) => {
  const { run, models } = await toyEnsemble(system, trial, DISTRIBUTION);
  const all: TraceEvent[][] = [];
  for (let seed = 0; seed < seeds; seed++)
    all.push(await run({ prompt: { tokens: [1, 2, 3] }, temperature: 1, seed, maxTokens }));
  return { all, models };
};

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

describe('a draft of a weighted ensemble is kept at least as often as its proposer weighs', () => {
  it('in theory: Σ min(r, q) ≥ λ', () => {
    for (let text = 0; text < 200; text++)
      for (const weights of [
        [0.5, 0.5],
        [0.9, 0.1],
        [0.2, 0.3, 0.5],
      ]) {
        const distributions = memberDistributions({ members: weights.length, noise: 9 }, DISTRIBUTION);
        const r = combinedDistribution(distributions, [text, 1, 2], { lambda: weights }, PLAIN);
        for (const [k, distribution] of distributions.entries()) {
          const q = distributionReference(toyLogits(distribution, [text, 1, 2]), PLAIN);
          const alpha = q.reduce((sum, p, token) => sum + Math.min(p, r[token] as number), 0);
          expect(alpha).toBeGreaterThanOrEqual((weights[k] as number) - 1e-12);
        }
      }
  });

  it('in traces, of every proposer', async () => {
    const lambda = [0.3, 0.7];
    const { all } = await runs(cos, { members: 2, noise: 9, knobs: { lambda } }, 20);
    const verdicts = all.flat().flatMap((event) => (event.type === 'verify' ? [event] : []));
    for (const [k, role] of (['target', 'draft'] as const).entries()) {
      const decided = verdicts.filter(({ checked }) => checked?.[0] === role);
      const kept = mean(decided.map(({ path }) => path.length - 1));
      expect(decided.length).toBeGreaterThan(500);
      expect(kept).toBeGreaterThan((lambda[k] as number) - 3 * Math.sqrt(0.25 / decided.length));
    }
  });
});

describe('passes', () => {
  it.each([
    [ensemble, 1],
    [ensembleSpeculative, 1],
    [cosNaive, 1],
    [cos, 1],
    [cos, 3],
  ] as const)('of the trace are those that were made: %o', async (system, ahead) => {
    for (const members of [2, 3, 4]) {
      const knobs = system === cos ? { ahead } : {};
      const { all, models } = await runs(system, { members, knobs }, 1);
      const [events] = all as [TraceEvent[]];
      const { passes, target_passes, draft_passes } = measure(events);
      const made = models.reduce((sum, model) => sum + model.passes, 0);
      expect(passes).toBe(made - members); // the prompt took one of each
      expect(target_passes).toBe((models[0]?.passes ?? 0) - 1);
      expect(draft_passes).toBeLessThanOrEqual(passes - target_passes);
      if (system === ensemble) expect(passes).toBe(members * measure(events).rounds);
    }
  });

  // Even where drafts are seldom kept. Where γ follows the acceptance (0) it stays at 1 there.
  it.each([2, 3, 4])('of cos with γ = 1 are never more than those of an ensemble of %i', async (members) => {
    for (const noise of [1, 4, 20])
      for (const gamma of [1, 0]) {
        const { all } = await runs(cos, { members, noise, knobs: { gamma: [gamma] } }, 10);
        for (const events of all) {
          const { passes, tokens } = measure(events);
          expect(passes).toBeLessThanOrEqual(members * (tokens - 1));
        }
      }
  });

  it('γ that follows the acceptance saves two readbacks of three where models agree, and none where they do not', async () => {
    const perRound = async (noise: number, gamma: number) => {
      const { all } = await runs(cos, { members: 2, noise, knobs: { gamma: [gamma] } }, 1, 201);
      const { tokens, rounds } = measure(all[0] ?? []);
      return (tokens - 1) / rounds;
    };
    expect(await perRound(0, 0)).toBeGreaterThan(2.7);
    expect(await perRound(20, 0)).toBe(await perRound(20, 1));
  });

  // Contrasted they draft as r, which is flatter than any of them: from their own distributions a tenth would be
  // refused.
  it.each(['weighted', 'contrastive'])('where all models agree: one for a token, %s', async (combine) => {
    for (const members of [2, 3, 4]) {
      const { all } = await runs(cos, { members, noise: 0, knobs: { combine, mu: 0.4 } }, 1, 201);
      expect(measure(all[0] ?? []).passes).toBeLessThan(200 + 2 * members);
    }
  });
});

/** Every draft is kept with this probability, whatever it is. */
const independent = (alpha: number) => ({ ...JOIN, keeps: (u: number): boolean => u < alpha });

describe.each([0.3, 0.6, 0.9])('where drafts are kept with probability %f, independently', (alpha) => {
  const join = independent(alpha);
  const committed = async (system: DecodingSystem, gamma: number) => {
    const { all } = await runs(system, { members: 2, join, knobs: { gamma } }, 20);
    return mean(all.flatMap((events) => measure(events).acceptance_lengths.slice(0, -1))); // the budget cuts the last
  };

  it.each([1, 3, 5])('a speculative round of γ = %i commits (1 − α^(γ+1)) / (1 − α) tokens', async (gamma) => {
    const expected = (1 - alpha ** (gamma + 1)) / (1 - alpha);
    expect(Math.abs((await committed(ensembleSpeculative, gamma)) / expected - 1)).toBeLessThan(0.05);
  });

  it.each([1, 3, 5])('a naive one (1 − α^γ) / (1 − α)', async (gamma) => {
    const expected = (1 - alpha ** gamma) / (1 - alpha);
    expect(Math.abs((await committed(cosNaive, gamma)) / expected - 1)).toBeLessThan(0.05);
  });

  it('two models that take turns make 2 − α passes a token', async () => {
    const { all } = await runs(cos, { members: 2, join, knobs: { gamma: [1] } }, 20);
    const metrics = all.map((events) => measure(events));
    const passes = mean(metrics.map(({ passes, tokens }) => passes / (tokens - 1)));
    expect(Math.abs(passes / (2 - alpha) - 1)).toBeLessThan(0.03);
  });
});
