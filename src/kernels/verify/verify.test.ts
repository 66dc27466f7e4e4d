import { expect, test } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { chains, logitRows } from '../../testing/toys/chains.ts';
import { END } from '../cache/compact.ts';
import { pcg3d, REPLACEMENT } from '../sampling/counter-random.ts';
import { distributionReference, drawReference } from '../sampling/sample.reference.ts';
import { CHOICE_WORDS } from '../sampling/sample.ts';
import {
  type DraftNode,
  MOST_NODES,
  packJob,
  packNodes,
  type RawVerdict,
  unpackVerdict,
  verdictBytes,
} from './verdict.ts';
import { matchReference, RATIO, type RatioRule, ratioReference } from './verify.reference.ts';
import { verifyMatch, verifyRatio } from './verify.ts';

const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));
/** Below n, reproducibly. */
const below = (n: number, ...key: [number, number]): number => pcg3d(n, ...key) % n;

/** Entries of a token ring whose choices show where they come from. */
const tokenRingOf = (gpu: Gpu, tokens: readonly number[], flags: readonly number[] = []) => {
  const words = new Uint32Array(Math.max(1, tokens.length) * CHOICE_WORDS);
  const floats = new Float32Array(words.buffer);
  tokens.forEach((token, i) => {
    words[i * CHOICE_WORDS] = token;
    floats.set([i + 0.25, i + 0.5], i * CHOICE_WORDS + 1);
    words[i * CHOICE_WORDS + 3] = flags[i] ?? 0;
  });
  return tensorOf(gpu, words);
};

const STRIDE = 32;
/** Logits that a target could have after node `row`, given the log-sum-exp that the token ring holds of them. */
const logitOf = (draws: number, row: number, token: number): number =>
  draws + row + 0.5 - (1 + ((7 * row + token) % 5));

interface Outputs {
  readonly verdict: RawVerdict;
  readonly moves: Uint32Array;
}

const matched = async (
  gpu: Gpu,
  nodes: readonly DraftNode[],
  tokenRing: readonly number[],
  draws: number,
  flags?: readonly number[],
): Promise<Outputs> => {
  const verdict = tensorOf(gpu, new Uint32Array(verdictBytes(MOST_NODES) / 4).fill(77));
  const moves = tensorOf(gpu, new Uint32Array(2 * MOST_NODES).fill(77));
  const job = packJob({ nodes: nodes.length, draws, base: 100, position: 0, seed: 0, row: 2 });
  const rows = nodes.map((_, row) => list(STRIDE, (token) => logitOf(draws, row, token)));
  const inputs = {
    job: tensorOf(gpu, job),
    nodes: tensorOf(gpu, packNodes(nodes)),
    tokenRing: tokenRingOf(gpu, tokenRing, flags),
    logits: tensorOf(gpu, strided([[0], [0], ...rows], STRIDE)),
  };
  const outputs = await runKernel(gpu, [verdict, moves], (plan) =>
    verifyMatch(plan, { ...inputs, verdict, moves }, { stride: STRIDE }),
  );
  const [first, second] = outputs.map((array) => array.buffer as ArrayBuffer) as [ArrayBuffer, ArrayBuffer];
  return { verdict: unpackVerdict(first, nodes.length), moves: new Uint32Array(second) };
};

for (const features of ['all', 'baseline'] as const)
  test(`verify-match on ${features}: chains and trees of every size, tokens by value and from the token ring`, async () => {
    const gpu = await testGpu(features);
    for (const count of [1, 2, 3, 5, 9, 17, 33, 64])
      for (const trial of list(6, (i) => i)) {
        // From chains (trial 0) to bushes; few tokens, so that siblings repeat and paths grow long.
        const parents = list(count, (i) => (i === 0 ? -1 : Math.max(0, i - 1 - below(1 + trial, i, count))));
        const tokens = list(count, (i) => below(2 + (trial % 3), i, 7 * count + trial));
        const drawn = list(count, (i) => below(2 + (trial % 3), i, 9 * count + trial));
        const expected = matchReference({ tokens, parents, draws: drawn });
        const named = tokens.map((_, i) => (i + trial) % 2 === 1);
        const nodes = tokens.map((token, i) => ({
          token: named[i] ? 999 : token,
          ringEntry: named[i] ? i + 1 : 0,
          parent: parents[i] as number,
        }));
        const { verdict, moves } = await matched(gpu, nodes, [...tokens, ...drawn], count);
        const name = JSON.stringify({ tokens, parents, drawn });
        const { path } = expected;
        expect({ ...verdict, choices: [], probabilities: [] }, name).toEqual({
          tokens,
          parents,
          probabilities: [],
          path,
          choices: [],
          source: expected.source,
          broken: false,
        });
        expect(verdict.choices, name).toEqual(
          path.map((node) => ({
            token: drawn[node],
            logit: count + node + 0.25,
            logSumExp: count + node + 0.5,
          })),
        );
        expect(verdict.probabilities, name).toEqual(
          tokens.slice(1).map((token, i) => ({
            target: expect.closeTo(Math.exp(-1 - ((7 * (parents[i + 1] as number) + token) % 5)), 5),
            draft: named[i + 1] ? expect.closeTo(Math.exp(-0.25), 5) : null,
          })),
        );
        expect(verdict.choices.at(-1)?.token, name).toBe(expected.next);
        const kept = path.flatMap((node, i) => [100 + node, 100 + i]);
        expect([...moves], name).toEqual([...kept, ...list(2 * MOST_NODES - kept.length, () => END)]);
      }
  });

test('verify-match: of two children with the drawn token the first is followed; a NaN is reported', async () => {
  const gpu = await testGpu();
  const node = (token: number, parent: number, ringEntry = 0): DraftNode => ({ token, ringEntry, parent });
  const nodes = [node(1, -1), node(5, 0), node(5, 0), node(6, 2), node(7, 1)];
  const { verdict } = await matched(gpu, nodes, [5, 6, 6, 0, 0], 0);
  expect(verdict).toMatchObject({ path: [0, 1], source: 'corrected', broken: false });
  const target = await matched(gpu, nodes, [5, 6, 6, 0, 0], 0, [0, 1, 0, 1, 1]);
  expect(target.verdict).toMatchObject({ path: [0, 1], broken: true });
  const pending = await matched(gpu, nodes, [5, 6, 6, 0, 0], 0, [0, 0, 1, 1, 1]);
  expect(pending.verdict).toMatchObject({ path: [0, 1], broken: false });
  const drafts = await matched(gpu, [node(1, -1), node(0, 0, 6)], [5, 6, 0, 0, 0, 5], 0, [0, 0, 0, 0, 0, 1]);
  expect(drafts.verdict).toMatchObject({ path: [0, 1], source: 'bonus', broken: true });
});

const PLAIN = { temperature: 1, topK: 0, topP: 1, minP: 0 };
const FILTERS = [
  PLAIN,
  { temperature: 0.6, topK: 0, topP: 1, minP: 0 },
  { temperature: 1.2, topK: 3, topP: 1, minP: 0 },
  { temperature: 1, topK: 0, topP: 0.7, minP: 0 },
  { temperature: 1, topK: 0, topP: 1, minP: 0.3 },
  { temperature: 0, topK: 0, topP: 1, minP: 0 },
];

for (const [features, threads] of [
  ['all', 256],
  ['baseline', 8],
] as const)
  test(`verify-ratio on ${features}: chains end as in the CPU reference, and commit the target's distribution`, async () => {
    const gpu = await testGpu(features);
    const vocabulary = 7;
    const [draft, target] = [logitRows(3, 3, vocabulary), logitRows(4, 4, vocabulary)];
    const round = await chains(gpu, draft, target, threads);
    // Each verdict is compared with the reference's, and the bound on their distribution grows with fewer of them.
    const runs = 300;
    for (const filters of FILTERS) {
      const distribution = (rows: readonly number[][]) => rows.map((row) => distributionReference(row, filters));
      const [p, q] = [distribution(target), distribution(draft)];
      const counts = list(4, () => list(vocabulary, () => 0));
      for (let from = 0; from < runs; from += 50) {
        const verdicts = list(50, (i) => round({ ...filters, position: 10 * (from + i), seed: 5 }));
        gpu.flush();
        (await Promise.all(verdicts)).forEach((verdict, i) => {
          const position = 10 * (from + i);
          const drafts = q.map((each, d) =>
            filters.temperature === 0 ? each.indexOf(1) : drawReference(each, position + d + 1, 5 ^ 0x9e3779b9),
          );
          expect(verdict.tokens).toEqual([3, ...drafts]);
          const expected = ratioReference({ tokens: verdict.tokens, p, q, seed: 5, position });
          const name = JSON.stringify({ ...filters, position });
          const { path, choices, source, broken } = verdict;
          const committed = choices.map(({ token }) => token);
          expect({ path, next: committed.at(-1), source, broken }, name).toEqual({ ...expected, broken: false });
          expect(committed.slice(0, -1), name).toEqual(drafts.slice(0, path.length - 1));
          const plainly = (rows: readonly number[][], i: number): number =>
            distributionReference(rows[i] as number[], PLAIN)[verdict.tokens[i + 1] as number] as number;
          expect(verdict.probabilities, name).toEqual(
            drafts.map((_, i) => ({
              target: expect.closeTo(plainly(target, i), 5),
              draft: expect.closeTo(plainly(draft, i), 5),
            })),
          );
          choices.forEach((choice, row) => {
            const logits = target[row] as number[];
            expect(choice.logit, name).toBe(logits[choice.token]);
            expect(choice.logSumExp, name).toBeCloseTo(Math.log(logits.reduce((sum, x) => sum + Math.exp(x), 0)), 5);
            (counts[row] as number[])[choice.token] = ((counts[row] as number[])[choice.token] as number) + 1;
          });
        });
      }
      // Rows do not depend on the tokens before them here, so the i-th committed token follows p[i] whenever there is
      // one.
      counts.forEach((row, i) => {
        const total = row.reduce((a, b) => a + b, 0);
        const apart = row.reduce((sum, n, token) => sum + Math.abs(n / total - (p[i]?.[token] as number)), 0) / 2;
        // The mean distance of `total` draws from their own distribution is at most √(cells / 2π·total).
        if (total > 0)
          expect(apart, `${JSON.stringify(filters)}, token ${i} of ${total}`).toBeLessThan(
            3 * Math.sqrt(vocabulary / (2 * Math.PI * total)),
          );
      });
    }
  }, 180_000);

/** The distribution of three tokens of a process whose next token depends on the one before. */
const jointDistribution = (p: readonly (readonly number[])[], first: number): number[] => {
  const after = (token: number) => p[token] as readonly number[];
  return after(first).flatMap((a, x) => after(x).flatMap((b, y) => after(y).map((c) => a * b * c)));
};

/** Distance between the distribution of three tokens committed by rounds of two drafts, and `jointDistribution`. */
const distance = (rule: RatioRule, runs: number): number => {
  const vocabulary = 4;
  const target = logitRows(11, vocabulary, vocabulary);
  const other = logitRows(12, vocabulary, vocabulary);
  // A draft that is kept often, so that bonus tokens are common too.
  const draft = target.map((row, i) => row.map((x, j) => 0.7 * x + 0.5 * (other[i]?.[j] ?? 0)));
  const [p, q] = [target, draft].map((rows) => rows.map((row) => distributionReference(row, PLAIN))) as [
    number[][],
    number[][],
  ];
  const counts = new Map<number, number>();
  for (let run = 0; run < runs; run++) {
    const text = [0];
    while (text.length < 4) {
      const position = 100 * run + text.length - 1;
      const tokens = [text.at(-1) as number];
      for (const i of [1, 2])
        tokens.push(drawReference(q[tokens.at(-1) as number] ?? [], position + i, 1 ^ 0x9e3779b9));
      const { path, next } = ratioReference(
        { tokens, p: tokens.map((t) => p[t] ?? []), q: tokens.slice(0, -1).map((t) => q[t] ?? []), seed: 1, position },
        rule,
      );
      text.push(...path.slice(1).map((node) => tokens[node] as number), next);
    }
    const [, a, b, c] = text as [number, number, number, number];
    const cell = (a * vocabulary + b) * vocabulary + c;
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  return jointDistribution(p, 0).reduce((sum, x, cell) => sum + Math.abs(x - (counts.get(cell) ?? 0) / runs), 0) / 2;
};

test('the rule commits the target’s joint distribution of three tokens; each broken rule does not', () => {
  const runs = 20_000;
  const floor = 1.5 * Math.sqrt(64 / (2 * Math.PI * runs)); // the mean distance of 64 even cells is its √; others are less

  expect(distance(RATIO, runs)).toBeLessThan(floor);
  const broken: Record<string, RatioRule> = {
    'the residual replaced by p': { ...RATIO, replacement: (p) => p },
    'everything accepted': { ...RATIO, keeps: () => true },
    'the bonus from the wrong row': { ...RATIO, last: (nodes) => nodes - 2 },
  };
  for (const [name, rule] of Object.entries(broken)) expect(distance(rule, runs), name).toBeGreaterThan(2 * floor);
});

test.each([8, 256])('a residual that vanishes is replaced by p, %i lanes', async (threads) => {
  const gpu = await testGpu();
  // Half of q is a p that no rejected draft leaves anything of; only rounding brings such a thing about otherwise.
  const q = [0.125, 0.5, 0.25, 0.125];
  const p = q.map((x) => x / 2);
  const distributions = tensorOf(gpu, strided([q, p, p], 32));
  const sources = [];
  for (let seed = 0; seed < 16; seed++) {
    const verdict = tensorOf(gpu, new Uint32Array(verdictBytes(2) / 4));
    const tensors = {
      job: tensorOf(gpu, packJob({ nodes: 2, draws: 0, base: 0, position: 4, seed, row: 0, distribution: 1 })),
      nodes: tensorOf(
        gpu,
        packNodes([0, 1].map((token) => ({ token, ringEntry: 0, parent: token - 1, distribution: 0 }))),
      ),
      tokenRing: tokenRingOf(gpu, [2, drawReference(p, 6, seed)]),
      logits: distributions,
      targetDistributions: distributions,
      draftDistributions: distributions,
      verdict,
      moves: tensorOf(gpu, new Uint32Array(2 * MOST_NODES)),
    };
    const [data] = await runKernel(gpu, [verdict], (plan) =>
      verifyRatio(plan, tensors, { vocabulary: 4, stride: 32 }, { threads }),
    );
    const { path, choices, source } = unpackVerdict(data?.buffer as ArrayBuffer, 2);
    const expected = ratioReference({ tokens: [0, 1], p: [p, p], q: [q], seed, position: 4 });
    expect({ path, next: choices.at(-1)?.token, source }).toEqual(expected);
    if (source === 'corrected') expect(expected.next).toBe(drawReference(p, 5, seed ^ REPLACEMENT));
    sources.push(source);
  }
  expect(new Set(sources)).toEqual(new Set(['corrected', 'bonus']));
});
