import { expect, test } from 'vitest';
import {
  type Combination,
  combinations,
  decide,
  draftsOf,
  expectReference,
  FILTERS,
  logitsOf,
  PLAIN,
  questions,
} from '../../testing/contract/ensemble-questions.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { RATIO, type RatioRule } from '../verify/verify.reference.ts';
import { combinedReference, contrastReference, verifyEnsembleReference } from './ensemble.reference.ts';

const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));

for (const [features, threads] of [
  ['all', 256],
  ['baseline', 8],
] as const)
  test(`on ${features}: both combinations, with and without a bonus, equal the CPU reference`, async () => {
    const gpu = await testGpu(features);
    const seen = { corrected: 0, bonus: 0, none: 0, kept: 0 };
    let slices = 0;
    for (const [members, vocabularies] of [
      [
        [2, 3, 4],
        [7, 33, 1000],
      ],
      [[8], [33]],
    ] as const)
      for (const question of questions(members, vocabularies)) {
        const verdict = await decide(gpu, question, { threads, slices: 1 + (slices++ % 4) });
        expectReference(verdict, question);
        seen.kept += verdict.kept;
        if (verdict.committed.length === verdict.kept) seen.none++;
        else if (verdict.kept === question.tokens.length) seen.bonus++;
        else seen.corrected++;
      }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10);
  });

const NEVER = -30;
/** Logits of a distribution with all its mass on these tokens. */
const on = (vocabulary: number, ...tokens: number[]): number[] =>
  list(vocabulary, (i) => (tokens.includes(i) ? 0 : NEVER));

test('a draft that r gives no probability is replaced; one that r gives as much as q stays', async () => {
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

test('the verdict on a position has the same bits in chains of every length', async () => {
  const gpu = await testGpu();
  const rows = logitsOf(5, 7, 3, 100, 0.1);
  for (const combination of combinations(3).slice(1, 3)) {
    const sampling = { ...PLAIN, topP: 0.95, seed: 4 };
    const proposers = list(7, () => 0);
    const tokens = draftsOf(rows, proposers, 3, { combination, sampling });
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
  const rows = logitsOf(vocabulary, 2, 2, vocabulary);
  const [, weighted, contrastive] = combinations(2) as [Combination, Combination, Combination];
  for (const [combination, filters] of [
    [weighted, FILTERS[4]],
    [contrastive, FILTERS[1]],
  ] as const) {
    const sampling = { ...PLAIN, ...filters, seed: 8 };
    const tokens = draftsOf(rows.slice(0, 1), [1], 3, { combination, sampling });
    const question = {
      tokens,
      position: 3,
      proposers: [1],
      rows: rows.slice(0, 1),
      bonus: rows[1] ?? null,
      combination,
      sampling,
    };
    expectReference(await decide(gpu, question, { slices: 16 }), question);
  }
});

test('a NaN or an infinity is reported, in the logits of a member, of a draft or of a pending token', async () => {
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

test('CPU reference: the first committed token follows r, and does not under wrong rules', () => {
  const RUNS = 20_000;
  const [rows = []] = logitsOf(11, 1, 3, 6);
  const sampling = { ...PLAIN, seed: 5 };
  const distance = (combination: Combination, rule?: RatioRule): number => {
    const counts = list(6, () => 0);
    for (const run of list(RUNS, (i) => 3 * i)) {
      const tokens = draftsOf([rows], [1], run, { combination, sampling });
      const question = { tokens, position: run, proposers: [1], rows: [rows], bonus: null, combination, sampling };
      const [first] = verifyEnsembleReference(question, rule).choices;
      if (first) counts[first.token] = (counts[first.token] as number) + 1;
    }
    const r = combinedReference(rows, combination, sampling);
    return r.reduce((sum, p, token) => sum + Math.abs(p - (counts[token] as number) / RUNS), 0) / 2;
  };
  for (const combination of combinations(3).slice(1, 3)) {
    // Three times the average distance of 20 000 draws from r itself.
    expect(distance(combination)).toBeLessThan(0.018);
    expect(distance(combination, { ...RATIO, replacement: (p) => p })).toBeGreaterThan(0.03);
    expect(distance(combination, { ...RATIO, keeps: () => true })).toBeGreaterThan(0.03);
  }
});

test('CPU reference: a contrast of logits', () => {
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
