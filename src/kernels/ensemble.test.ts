import { expect, test } from 'vitest';
import type { Gpu } from '../gpu/device.ts';
import { testGpu } from '../testing/gpu.ts';
import { noise, runKernel, strided, tensorOf } from '../testing/kernel.ts';
import { stride32 } from '../weights/layout.ts';
import {
  combinedReference,
  contrastReference,
  type EnsembleQuestion,
  verifyEnsembleReference,
} from './ensemble.reference.ts';
import {
  contrast,
  type EnsembleDraft,
  elect,
  electionBytes,
  ensembleVerdictBytes,
  gauge,
  gaugesBytes,
  jobBytes,
  packEnsembleJob,
  type RawEnsembleVerdict,
  unpackEnsembleVerdict,
  verifyEnsemble,
} from './ensemble.ts';
import { distributionReference, drawReference } from './sample.reference.ts';
import { CHOICE_WORDS } from './sample.ts';
import { RATIO, type RatioRule } from './verify.reference.ts';

const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));
type Combination = EnsembleQuestion['combination'];

/** Decides on the device: rows in an order of their own, every other draft by value, the others from the board. */
const decide = async (
  gpu: Gpu,
  question: EnsembleQuestion,
  { threads = 8, slices = 3, broken = [] as readonly number[] } = {},
): Promise<RawEnsembleVerdict> => {
  const { tokens, position, proposers, rows, bonus, combination, sampling } = question;
  const scored = bonus ? [...rows, bonus] : rows;
  const [positions, members] = [scored.length, scored[0]?.length ?? 0];
  const vocabulary = scored[0]?.[0]?.length ?? 0;
  const contrasts = combination.kind === 'contrastive';
  const columns = members + Number(contrasts);
  const stride = stride32(vocabulary);
  const total = positions * columns;
  /** The row of a position and a column: from the last one down. */
  const at = (i: number, column: number): number => total - 1 - (i * columns + column);
  const flat = list(total, (row) => {
    const index = total - 1 - row;
    return scored[Math.floor(index / columns)]?.[index % columns] ?? [];
  });
  const besides = [1, 0];
  const board = new Uint32Array((tokens.length + 2) * CHOICE_WORDS);
  [...tokens, 40, 41].forEach((token, i) => {
    board.set([token, 0, 0, Number(broken.includes(i))], i * CHOICE_WORDS);
  });
  const drafts = tokens.map((token, i): EnsembleDraft => {
    const proposer = proposers[i] as number;
    return i % 2 ? { token, held: 0, proposer } : { token: 0, held: i + 1, proposer };
  });
  const sum = combination.kind === 'weighted' ? combination.weights.reduce((a, b) => a + b, 0) : 1;
  const shares =
    combination.kind === 'weighted' ? combination.weights.map((x) => x / sum) : [...list(members, () => 0), 1];
  const words = packEnsembleJob({
    drafts,
    rows: list(positions, (i) => list(columns, (column) => at(i, column))),
    besides: besides.map((i) => tokens.length + i + 1),
    position,
    sampling,
    shares,
    mu: combination.kind === 'contrastive' ? combination.mu : 0,
  });
  expect(words.byteLength).toBeLessThanOrEqual(jobBytes(positions, columns));
  const empty = (bytes: number) => tensorOf(gpu, new Uint32Array(bytes / 4).fill(77));
  const job = tensorOf(gpu, words);
  const logits = tensorOf(gpu, strided(flat, stride));
  const gauges = empty(gaugesBytes(positions, columns));
  const election = empty(electionBytes(positions, slices));
  const bytes = ensembleVerdictBytes(positions, members, besides.length);
  const verdict = empty(bytes);
  const held = tensorOf(gpu, board);
  const uniforms = { positions, members, columns, vocabulary, stride, slices };
  const [out] = await runKernel(gpu, [{ ...verdict, bytes }], (plan) => {
    if (contrasts) contrast(plan, { job, rows: logits }, uniforms);
    gauge(plan, { job, logits, gauges }, uniforms, { threads });
    elect(plan, { job, logits, gauges, board: held, election }, uniforms, { threads });
    verifyEnsemble(plan, { job, logits, gauges, board: held, election, verdict }, uniforms, { threads });
  });
  for (const { buffer } of [job, logits, gauges, election, verdict, held]) gpu.free(buffer);
  const data = (out as Float32Array).buffer as ArrayBuffer;
  return unpackEnsembleVerdict(data, { drafts: tokens.length, positions, members });
};

const expectTwin = (actual: RawEnsembleVerdict, question: EnsembleQuestion, name: string): void => {
  const { kept, choices, votes } = verifyEnsembleReference(question);
  expect(actual.tokens, name).toEqual(question.tokens);
  expect(actual.besides, name).toEqual([41, 40]);
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

const PLAIN = { temperature: 1, topK: 0, topP: 1, minP: 0 };
const FILTERS = [
  PLAIN,
  { ...PLAIN, temperature: 0 },
  { ...PLAIN, temperature: 0, topK: 1, topP: 0.3, minP: 0.9 },
  { ...PLAIN, temperature: 0.6 },
  { temperature: 1.3, topK: 5, topP: 0.9, minP: 0.01 },
];
const combinations = (members: number): Combination[] => [
  { kind: 'weighted', weights: list(members, () => 1) },
  { kind: 'weighted', weights: list(members, (k) => k / 3) },
  { kind: 'contrastive', mu: 0.1 },
  { kind: 'contrastive', mu: -0.5 },
];

const logitsOf = (seed: number, count: number, members: number, vocabulary: number, apart = 1.5): number[][][] => {
  const random = noise(seed);
  return list(count, () => {
    const shared = list(vocabulary, () => 1.5 * random());
    return list(members, () => shared.map((x) => Math.fround(x + apart * random())));
  });
};

/** Each draft drawn by its proposer, as systems do it. */
const draftsOf = (
  rows: readonly (readonly number[][])[],
  proposers: readonly number[],
  position: number,
  sampling: EnsembleQuestion['sampling'],
): number[] =>
  rows.map((each, i) => {
    const law = distributionReference(each[proposers[i] as number] as number[], sampling);
    return sampling.temperature === 0 ? law.indexOf(1) : drawReference(law, position + i, sampling.seed ^ 0x9e3779b9);
  });

for (const [features, threads] of [
  ['all', 256],
  ['baseline', 8],
] as const)
  test(`on ${features}: n members, both combinations, chains with and without a bonus, as the twin says`, async () => {
    const gpu = await testGpu(features);
    const seen = { corrected: 0, bonus: 0, none: 0, kept: 0 };
    let seed = 0;
    for (const members of [2, 3, 4, 8])
      for (const vocabulary of members === 8 ? [33] : [7, 33, 1000])
        for (const combination of combinations(members))
          for (const filters of FILTERS) {
            const drafts = seed % 6;
            const ends = drafts === 0 || seed % 2 === 0;
            const rows = logitsOf(++seed, drafts + 1, members, vocabulary, seed % 3 ? 1.5 : 0.2);
            const position = 5 * seed;
            const sampling = { ...filters, seed: 1000 + seed };
            const proposers = list(drafts, (i) => (i + seed) % members);
            const tokens = draftsOf(rows.slice(0, drafts), proposers, position, sampling);
            const bonus = ends ? (rows[drafts] as number[][]) : null;
            const question = { tokens, position, proposers, rows: rows.slice(0, drafts), bonus, combination, sampling };
            if (!bonus && drafts === 0) continue;
            const name = JSON.stringify({ members, vocabulary, combination, sampling, drafts, ends });
            const verdict = await decide(gpu, question, { threads, slices: 1 + (seed % 4) });
            expectTwin(verdict, question, name);
            seen.kept += verdict.kept;
            const more = verdict.committed.length > verdict.kept;
            if (!more) seen.none++;
            else if (verdict.kept === drafts) seen.bonus++;
            else seen.corrected++;
          }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10);
  });

const NEVER = -30;
/** Logits of a law with all its mass on these tokens. */
const on = (vocabulary: number, ...tokens: number[]): number[] =>
  list(vocabulary, (i) => (tokens.includes(i) ? 0 : NEVER));

test('forced: what r has none of is replaced from what it has more of; what r has as much of stays', async () => {
  const gpu = await testGpu();
  const combination: Combination = { kind: 'weighted', weights: [1, 1] };
  const sampling = { ...PLAIN, seed: 3 };
  const chain = { position: 9, proposers: [0, 0], combination, sampling };
  const same = [on(9, 4, 5), on(9, 4, 5)];
  const kept = await decide(gpu, { ...chain, tokens: [4, 5], rows: [same, same], bonus: [on(9, 2), on(9, 2)] });
  expect(kept).toMatchObject({ kept: 2, committed: [4, 5, 2] });
  const none = await decide(gpu, { ...chain, tokens: [4, 5], rows: [same, same], bonus: null });
  expect(none).toMatchObject({ kept: 2, committed: [4, 5] });
  // Member 0 gave token 4 half; r gives it a quarter and token 7 a quarter, half of which is all that r exceeds q by.
  const rows = [on(9, 4, 5), on(9, 5, 7)];
  const fates = new Set<string>();
  for (const position of list(40, (i) => 10 * i)) {
    const { committed } = await decide(gpu, {
      ...chain,
      position,
      tokens: [4],
      proposers: [0],
      rows: [rows],
      bonus: null,
    });
    fates.add(committed.join());
  }
  expect([...fates].sort()).toEqual(['4', '7']);
  // A draft that its proposer cannot have drawn, where r and q are the same: r itself.
  const lost = { ...chain, tokens: [1], proposers: [0], rows: [[on(9, 5), on(9, 5)]], bonus: null };
  const certain = lost.rows.map((each) => each.map((row) => row.map((x) => (x === 0 ? 0 : -200))));
  expect(await decide(gpu, { ...lost, rows: certain })).toMatchObject({ kept: 0, committed: [5] });
});

test('ties at temperature 0 go to the lowest token, across slices', async () => {
  const gpu = await testGpu();
  const bonus = [on(40, 31, 9), on(40, 17, 31, 9)];
  for (const slices of [1, 2, 5, 40]) {
    const sampling = { ...PLAIN, temperature: 0, seed: 0 };
    const empty = { tokens: [], position: 0, proposers: [], rows: [] };
    const combination: Combination = { kind: 'weighted', weights: [1, 0] };
    expect(await decide(gpu, { ...empty, bonus, combination, sampling }, { slices })).toMatchObject({ committed: [9] });
  }
});

test('a position is judged alike in chains of every length, by a bit', async () => {
  const gpu = await testGpu();
  const rows = logitsOf(5, 7, 3, 100, 0.1);
  for (const combination of combinations(3).slice(1, 3)) {
    const sampling = { ...PLAIN, topP: 0.95, seed: 4 };
    const proposers = list(7, () => 0);
    const tokens = draftsOf(rows, proposers, 3, sampling);
    const of = (count: number) =>
      decide(gpu, {
        tokens: tokens.slice(0, count),
        position: 3,
        proposers,
        rows: rows.slice(0, count),
        bonus: null,
        combination,
        sampling,
      });
    const whole = await of(7);
    expect(whole.kept).toBeGreaterThan(1);
    for (const count of list(whole.kept, (i) => i + 1))
      expect((await of(count)).votes).toEqual(whole.votes.slice(0, count));
  }
});

test.each([49_152, 151_936])('a vocabulary of %i', async (vocabulary) => {
  const gpu = await testGpu();
  const rows = logitsOf(vocabulary, 3, 2, vocabulary);
  const [, weighted, contrastive] = combinations(2) as [Combination, Combination, Combination];
  for (const [combination, filters] of [
    [weighted, FILTERS[4]],
    [contrastive, FILTERS[1]],
  ] as const) {
    const sampling = { ...PLAIN, ...filters, seed: 8 };
    const tokens = draftsOf(rows.slice(0, 2), [1, 0], 3, sampling);
    const question = {
      tokens,
      position: 3,
      proposers: [1, 0],
      rows: rows.slice(0, 2),
      bonus: rows[2] ?? null,
      combination,
      sampling,
    };
    expectTwin(await decide(gpu, question, { slices: 16 }), question, JSON.stringify({ combination, filters }));
  }
});

test('logits that are no numbers are told, whoever said them: a member, a draft, or what is read besides', async () => {
  const gpu = await testGpu();
  const sampling = { ...PLAIN, seed: 1 };
  const fine = logitsOf(2, 2, 3, 50);
  const chain = { tokens: [3], position: 0, proposers: [0], sampling };
  for (const combination of combinations(3).slice(0, 3)) {
    for (const member of [0, 1, 2])
      for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
        const rows = fine.map((each, i) => each.map((row, k) => (i === 1 && k === member ? row.with(41, bad) : row)));
        const question = { ...chain, rows: rows.slice(0, 1), bonus: rows[1] ?? null, combination };
        expect((await decide(gpu, question)).broken).toBe(true);
      }
    const question = { ...chain, rows: fine.slice(0, 1), bonus: fine[1] ?? null, combination };
    expect((await decide(gpu, question)).broken).toBe(false);
    for (const entry of [0, 1, 2]) expect((await decide(gpu, question, { broken: [entry] })).broken).toBe(true);
  }
});

test('twin: what a chain commits first follows r, and does not under wrong rules', () => {
  const RUNS = 20_000;
  const [rows = []] = logitsOf(11, 1, 3, 6);
  const sampling = { ...PLAIN, seed: 5 };
  const distance = (combination: Combination, rule?: RatioRule): number => {
    const counts = list(6, () => 0);
    for (const run of list(RUNS, (i) => 3 * i)) {
      const tokens = draftsOf([rows], [1], run, sampling);
      const question = { tokens, position: run, proposers: [1], rows: [rows], bonus: null, combination, sampling };
      const [first] = verifyEnsembleReference(question, rule).choices;
      if (first) counts[first.token] = (counts[first.token] as number) + 1;
    }
    const r = combinedReference(rows, combination, sampling);
    return r.reduce((sum, p, token) => sum + Math.abs(p - (counts[token] as number) / RUNS), 0) / 2;
  };
  for (const combination of combinations(3).slice(1, 3)) {
    // Three times what 20 000 draws from r itself are apart from it on the average.
    expect(distance(combination)).toBeLessThan(0.018);
    expect(distance(combination, { ...RATIO, replacement: (p) => p })).toBeGreaterThan(0.03);
    expect(distance(combination, { ...RATIO, keeps: () => true })).toBeGreaterThan(0.03);
  }
});

test('twin: a contrast of logits', () => {
  expect(
    contrastReference(
      [
        [1, 2],
        [3, 4],
        [5, 0],
      ],
      0.5,
    ),
  ).toEqual([-1, 1]);
});
