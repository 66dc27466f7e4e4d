// Inputs for the kernels of ensembles, how a device decides on them, and the comparison with the CPU reference.
import { expect } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import {
  draftDistributionReference,
  type EnsembleQuestion,
  verifyEnsembleReference,
} from '../../kernels/ensemble/ensemble.reference.ts';
import { chainEnd, contrast, softmaxStatistics, verifyEnsemble } from '../../kernels/ensemble/ensemble-kernels.ts';
import {
  chainEndBytes,
  type EnsembleDraft,
  ensembleVerdictBytes,
  jobBytes,
  packEnsembleJob,
  type RawEnsembleVerdict,
  statisticsBytes,
  unpackEnsembleVerdict,
} from '../../kernels/ensemble/ensemble-structs.ts';
import { drawReference } from '../../kernels/sampling/sample.reference.ts';
import { CHOICE_WORDS } from '../../kernels/sampling/sample.ts';
import { draftingOf } from '../../model/ensemble/combine-members.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { noise, runKernel, strided, tensorOf } from '../device/run-kernel.ts';

const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));
export type Combination = EnsembleQuestion['combination'];

/** Decides on the device: rows in an order of their own, every other draft by value, the others from the token ring. */
export const decide = async (
  gpu: Gpu,
  question: EnsembleQuestion,
  { threads = 8, slices = 3, broken = [] as readonly number[] } = {},
): Promise<RawEnsembleVerdict> => {
  const { tokens, position, proposers, rows, bonus, combination, sampling } = question;
  const scored = bonus ? [...rows, bonus] : rows;
  const [positions, members] = [scored.length, scored[0]?.length ?? 0];
  const vocabulary = scored[0]?.[0]?.length ?? 0;
  const contrasts = combination.kind === 'contrastive';
  const distributions = members + (contrasts ? 2 : 0);
  const stride = stride32(vocabulary);
  const total = positions * distributions;
  /** The row of a position and a distribution: from the last one down. */
  const at = (i: number, distribution: number): number => total - 1 - (i * distributions + distribution);
  const flat = list(total, (row) => {
    const index = total - 1 - row;
    const [i, distribution] = [Math.floor(index / distributions), index % distributions];
    return scored[i]?.[distribution === members + 1 ? (proposers[i] ?? 0) : distribution] ?? [];
  });
  const pending = [1, 0];
  const tokenRing = new Uint32Array((tokens.length + 2) * CHOICE_WORDS);
  [...tokens, 40, 41].forEach((token, i) => {
    tokenRing.set([token, 0, 0, Number(broken.includes(i))], i * CHOICE_WORDS);
  });
  const drafts = tokens.map((token, i): EnsembleDraft => {
    const distribution = contrasts ? members + 1 : (proposers[i] as number);
    return i % 2 ? { token, ringEntry: 0, distribution } : { token: 0, ringEntry: i + 1, distribution };
  });
  const sum = combination.kind === 'weighted' ? combination.weights.reduce((a, b) => a + b, 0) : 1;
  const shares =
    combination.kind === 'weighted' ? combination.weights.map((x) => x / sum) : [...list(members, () => 0), 1, 0];
  const words = packEnsembleJob({
    drafts,
    rows: list(positions, (i) => list(distributions, (distribution) => at(i, distribution))),
    pending: pending.map((i) => tokens.length + i + 1),
    position,
    sampling,
    shares,
    mu: combination.kind === 'contrastive' ? combination.mu : 0,
    drafting: draftingOf(combination, sampling).temperature,
  });
  expect(words.byteLength).toBeLessThanOrEqual(jobBytes(positions, distributions));
  const empty = (bytes: number) => tensorOf(gpu, new Uint32Array(bytes / 4).fill(77));
  const job = tensorOf(gpu, words);
  const logits = tensorOf(gpu, strided(flat, stride));
  const statistics = empty(statisticsBytes(positions, distributions));
  const end = empty(chainEndBytes(positions, slices));
  const bytes = ensembleVerdictBytes(positions, members, pending.length);
  const verdict = empty(bytes);
  const ringEntry = tensorOf(gpu, tokenRing);
  const uniforms = { positions, members, distributions, vocabulary, stride, slices };
  const [out] = await runKernel(gpu, [{ ...verdict, bytes }], (plan) => {
    if (contrasts) contrast(plan, { job, rows: logits }, uniforms);
    softmaxStatistics(plan, { job, logits, statistics }, uniforms, { threads });
    chainEnd(plan, { job, logits, statistics, tokenRing: ringEntry, chainEnd: end }, uniforms, { threads });
    verifyEnsemble(plan, { job, logits, statistics, tokenRing: ringEntry, chainEnd: end, verdict }, uniforms, {
      threads,
    });
  });
  for (const { buffer } of [job, logits, statistics, end, verdict, ringEntry]) gpu.free(buffer);
  const data = (out as Float32Array).buffer as ArrayBuffer;
  return unpackEnsembleVerdict(data, { drafts: tokens.length, positions, members });
};

export const expectReference = (actual: RawEnsembleVerdict, question: EnsembleQuestion): void => {
  const { kept, choices, votes } = verifyEnsembleReference(question);
  const { tokens, combination, sampling, bonus } = question;
  const name = JSON.stringify({ tokens, combination, sampling, bonus: bonus !== null });
  expect(actual.tokens, name).toEqual(question.tokens);
  expect(actual.pending, name).toEqual([41, 40]);
  expect(actual.broken, name).toBe(false);
  expect({ kept: actual.kept, committed: actual.committed }, name).toEqual({
    kept,
    committed: choices.map(({ token }) => token),
  });
  votes.forEach(({ r, own }, i) => {
    const vote = actual.votes[i] as RawEnsembleVerdict['votes'][number];
    expect(vote.r, name).toBeCloseTo(r, 5);
    own.forEach((opinion, k) => {
      const said = vote.own[k] as (typeof vote.own)[number];
      expect(said.token, name).toBe(opinion.token);
      expect(said.probability, name).toBeCloseTo(opinion.probability, 5);
      expect(said.committed, name).toBeCloseTo(opinion.committed, 5);
    });
  });
};

export const PLAIN = { temperature: 1, topK: 0, topP: 1, minP: 0 };
export const FILTERS = [
  PLAIN,
  { ...PLAIN, temperature: 0 },
  { ...PLAIN, temperature: 0, topK: 1, topP: 0.3, minP: 0.9 },
  { ...PLAIN, temperature: 0.6 },
  { temperature: 1.3, topK: 5, topP: 0.9, minP: 0.01 },
];
export const combinations = (members: number): Combination[] => [
  { kind: 'weighted', weights: list(members, () => 1) },
  { kind: 'weighted', weights: list(members, (k) => k / 3) },
  { kind: 'contrastive', mu: 0.1 },
  { kind: 'contrastive', mu: -0.5 },
];

export const logitsOf = (
  seed: number,
  count: number,
  members: number,
  vocabulary: number,
  apart = 1.5,
): number[][][] => {
  const random = noise(seed);
  return list(count, () => {
    const shared = list(vocabulary, () => 1.5 * random());
    return list(members, () => shared.map((x) => Math.fround(x + apart * random())));
  });
};

/** Each draft drawn by its proposer, as systems do it. */
export const draftsOf = (
  rows: readonly (readonly number[][])[],
  proposers: readonly number[],
  position: number,
  { combination, sampling }: Pick<EnsembleQuestion, 'combination' | 'sampling'>,
): number[] =>
  rows.map((each, i) => {
    const distribution = draftDistributionReference(each[proposers[i] as number] as number[], combination, sampling);
    return sampling.temperature === 0
      ? distribution.indexOf(1)
      : drawReference(distribution, position + i, sampling.seed ^ 0x9e3779b9);
  });

/** Inputs of every kind: with and without a bonus token, with members that differ much or little. */
export function* questions(sizes: readonly number[], vocabularies: readonly number[]): Generator<EnsembleQuestion> {
  let seed = 0;
  for (const members of sizes)
    for (const vocabulary of vocabularies)
      for (const combination of combinations(members))
        for (const filters of FILTERS) {
          const drafts = seed % 6;
          const ends = drafts === 0 || seed % 2 === 0;
          const rows = logitsOf(++seed, drafts + 1, members, vocabulary, seed % 3 ? 1.5 : 0.2);
          const position = 5 * seed;
          const sampling = { ...filters, seed: 1000 + seed };
          const proposers = list(drafts, (i) => (i + seed) % members);
          const tokens = draftsOf(rows.slice(0, drafts), proposers, position, { combination, sampling });
          const bonus = ends ? (rows[drafts] as number[][]) : null;
          yield { tokens, position, proposers, rows: rows.slice(0, drafts), bonus, combination, sampling };
        }
}
