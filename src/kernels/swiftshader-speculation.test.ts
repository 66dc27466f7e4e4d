// What speculation adds to the kernels, again on SwiftShader: trees bit for bit, verification and grown trees as their
// CPU references do.
import { describe, expect, test } from 'vitest';
import { runKernel, tensorOf } from '../testing/device/run-kernel.ts';
import { noSwiftShader, swiftShaderGpu } from '../testing/device/swiftshader.ts';
import { chains, logitRows } from '../testing/toys/chains.ts';
import { grow, logSoftmax, pathLogits } from '../testing/toys/grow.ts';
import { branching, checkTrees, some } from '../testing/toys/planted-trees.ts';
import { distributionReference } from './sampling/sample.reference.ts';
import { CHOICE_WORDS } from './sampling/sample.ts';
import { treeReference } from './tree/grow-tree.reference.ts';
import { MOST_NODES, packJob, packNodes, unpackVerdict, verdictBytes } from './verify/verdict.ts';
import { matchReference, ratioReference } from './verify/verify.reference.ts';
import { verifyMatch } from './verify/verify.ts';

describe.skipIf(noSwiftShader)('on SwiftShader', () => {
  test.each(['staged', 'split'] as const)('branching trees are causal passes bit for bit: %s', async (variant) => {
    const gpu = await swiftShaderGpu();
    const tree = { prefix: 61, start: 61, base: 61, parents: branching(20, 6), nodes: some(20, 8) };
    await checkTrees(gpu, { variant }, [tree], null);
  });

  test('verify-match', async () => {
    const gpu = await swiftShaderGpu();
    const [parents, tokens] = [
      [-1, 0, 0, 1, 2, 2, 5],
      [0, 1, 2, 3, 3, 4, 5],
    ];
    for (const draws of [
      [2, 0, 4, 0, 0, 5, 9],
      [2, 0, 7, 0, 0, 0, 0],
      [1, 3, 0, 8, 0, 0, 0],
    ]) {
      const verdict = tensorOf(gpu, new Uint32Array(verdictBytes(7) / 4));
      const tensors = {
        job: tensorOf(gpu, packJob({ nodes: 7, draws: 0, base: 0, position: 0, seed: 0, row: 0 })),
        nodes: tensorOf(
          gpu,
          packNodes(tokens.map((token, i) => ({ token, ringEntry: 0, parent: parents[i] as number }))),
        ),
        tokenRing: tensorOf(
          gpu,
          Uint32Array.from(draws.flatMap((token) => [token, ...new Array(CHOICE_WORDS - 1).fill(0)])),
        ),
        moves: tensorOf(gpu, new Uint32Array(2 * MOST_NODES)),
        logits: tensorOf(gpu, new Float32Array(7 * 32)),
        verdict,
      };
      const [data] = await runKernel(gpu, [verdict], (plan) => verifyMatch(plan, tensors, { stride: 32 }));
      const { path, choices, source } = unpackVerdict(data?.buffer as ArrayBuffer, 7);
      expect({ path, next: choices.at(-1)?.token, source }).toEqual(matchReference({ tokens, parents, draws }));
    }
  });

  test('distribution and verify-ratio', async () => {
    const gpu = await swiftShaderGpu();
    const [draft, target] = [logitRows(3, 3, 7), logitRows(4, 4, 7)];
    const round = await chains(gpu, draft, target, 8);
    for (const filters of [
      { temperature: 1, topK: 0, topP: 1, minP: 0 },
      { temperature: 0.8, topK: 5, topP: 0.9, minP: 0.05 },
    ]) {
      const [p, q] = [target, draft].map((rows) => rows.map((row) => distributionReference(row, filters)));
      const verdicts = Array.from({ length: 40 }, (_, i) => round({ ...filters, position: 10 * i, seed: 5 }));
      gpu.flush();
      (await Promise.all(verdicts)).forEach(({ tokens, path, choices, source }, i) => {
        const expected = ratioReference({ tokens, p: p ?? [], q: q ?? [], seed: 5, position: 10 * i });
        expect({ path, next: choices.at(-1)?.token, source }).toEqual(expected);
      });
    }
  });

  test('a grown tree', async () => {
    const gpu = await swiftShaderGpu();
    const task = {
      width: 4,
      levels: 3,
      nodes: 12,
      token: 5,
      ringEntry: 0,
      base: 9,
      position: 9,
      scored: 0,
      feature: 0,
      window: 2,
    };
    const ids = Array.from({ length: 100 }, (_, i) => i);
    const logits = pathLogits(100);
    const { tokens, parents } = await grow(gpu, task, ids, logits, 8);
    const reference = treeReference(5, task, (path) => logSoftmax(logits(path)));
    expect({ tokens, parents }).toEqual({ tokens: reference.tokens, parents: reference.parents });
  });
});
