import { expect, test } from 'vitest';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation, noise, runKernel, strided, tensorOf } from '../../testing/device/run-kernel.ts';
import { stride32 } from '../../weights/quantize/device-layout.ts';
import { packNodes } from '../verify/verdict.ts';
import { adjustReference, BANNED } from './adjust-logits.reference.ts';
import {
  ADJUST_JOB,
  adjustLogits,
  isPenalised,
  type LogitRules,
  longestBan,
  packRules,
  TOKEN_COUNT,
} from './adjust-logits.ts';
import { CHOICE } from './sample.ts';

const NONE: LogitRules = { repetition: 1, presence: 0, frequency: 0, biases: [], bans: [] };

interface Tree {
  readonly tokens: readonly number[];
  readonly parents: readonly number[];
}

/** The rows after nodes `first` and later of a tree whose node 0 is at position `base` of this text. */
const adjusted = async (
  features: 'all' | 'baseline',
  rows: readonly (readonly number[])[],
  {
    text,
    prompt,
    base,
    tree,
    first,
    rules,
  }: {
    text: readonly number[];
    prompt: number;
    base: number;
    tree: Tree;
    first: number;
    rules: LogitRules;
  },
  threads: number,
  onRing: boolean,
): Promise<number[][]> => {
  const gpu = await testGpu(features);
  const vocabulary = (rows[0] as number[]).length;
  const stride = stride32(vocabulary);
  const distinct = [...new Set(text)];
  const counts = distinct.map((token) => ({
    token,
    generated: text.slice(prompt).filter((each) => each === token).length,
  }));
  const { biases, bans, texts } = packRules(rules);
  const tail = text.slice(text.length - Math.min(text.length, longestBan(rules)));
  texts.set(tail);
  const job = {
    rows: rows.length,
    first,
    base,
    length: text.length,
    generated: text.length - prompt,
    tail: tail.length,
    counted: counts.length,
    biases: rules.biases.length,
    bans: rules.bans.length,
    penalised: Number(isPenalised(rules)),
    repetition: rules.repetition,
    presence: rules.presence,
    frequency: rules.frequency,
  };
  const nodes = tree.tokens.map((token, i) => ({
    token: onRing && i > 0 ? 0 : token,
    ringEntry: onRing && i > 0 ? i + 1 : 0,
    parent: tree.parents[i] as number,
  }));
  const logits = tensorOf(gpu, strided(rows, stride));
  const tensors = {
    job: tensorOf(gpu, ADJUST_JOB.pack([job])),
    nodes: tensorOf(gpu, packNodes(nodes)),
    tokenRing: tensorOf(gpu, CHOICE.pack(tree.tokens.map((token) => ({ token, logit: 0, logSumExp: 0, flags: 0 })))),
    counts: tensorOf(gpu, TOKEN_COUNT.pack(counts)),
    biases: tensorOf(gpu, biases),
    bans: tensorOf(gpu, bans),
    texts: tensorOf(gpu, texts),
    logits,
  };
  const [data] = await runKernel(gpu, [logits], (plan) =>
    adjustLogits(plan, tensors, { rows: rows.length + 1, stride }, { threads }),
  );
  return rows.map((_, i) => [...(data as Float32Array).slice(i * stride, i * stride + vocabulary)]);
};

const pathTo = ({ tokens, parents }: Tree, node: number): number[] =>
  node < 0 ? [] : [...pathTo({ tokens, parents }, parents[node] as number), tokens[node] as number];

/** Every kind of rule at once, and each alone. */
const rulesOf = (vocabulary: number, text: readonly number[], tree: Tree): Record<string, LogitRules> => {
  const last = text.at(-1) as number;
  const biases = [0, vocabulary - 1].map((token, i) => ({ token, bias: 2.5 - 4 * i })).slice(0, vocabulary);
  const bans = [
    { token: 0, after: [], until: Infinity },
    { token: 0, after: [last, last], until: Infinity },
    { token: vocabulary >> 1, after: text.slice(-2), until: Infinity },
    { token: vocabulary >> 2, after: [last, tree.tokens[1] as number], until: Infinity },
    { token: vocabulary >> 2, after: [tree.tokens[1] as number, tree.tokens[2] as number], until: Infinity },
    { token: vocabulary - 1, after: [], until: 5 },
  ];
  return {
    biases: { ...NONE, biases },
    repetition: { ...NONE, repetition: 1.3 },
    presence: { ...NONE, presence: 0.7 },
    frequency: { ...NONE, frequency: -0.4 },
    bans: { ...NONE, bans },
    all: { repetition: 0.8, presence: -0.5, frequency: 0.9, biases, bans },
  };
};

for (const features of ['all', 'baseline'] as const)
  for (const threads of [1, 8, 256])
    test(`adjust-logits on ${features}, ${threads} lanes a row, agrees with the CPU reference`, async () => {
      for (const vocabulary of [1, 31, 33, 700]) {
        const random = noise(vocabulary + 3);
        const token = (): number => Math.floor(Math.abs(random()) * 1000) % vocabulary;
        const text = Array.from({ length: 24 }, token);
        const tree: Tree = {
          tokens: [text.at(-1) as number, ...Array.from({ length: 8 }, token)],
          parents: [-1, 0, 1, 1, 0, 4, 2, 6, 7],
        };
        const prompt = 20;
        const rows = tree.tokens.map(() => Array.from({ length: vocabulary }, () => Math.fround(3 * random())));
        for (const [name, rules] of Object.entries(rulesOf(vocabulary, text, tree)))
          for (const onRing of [false, true]) {
            const given = { text, prompt, base: text.length - 1, tree, first: 0, rules };
            const found = await adjusted(features, rows, given, threads, onRing);
            for (const [row, logits] of found.entries()) {
              const context = [...text.slice(0, -1), ...pathTo(tree, row)];
              const expected = adjustReference(rows[row] as number[], context, prompt, rules);
              const what = `vocabulary ${vocabulary}, ${name}, row ${row}`;
              const banned = (all: readonly number[]) => all.map((logit) => logit < BANNED / 2);
              expect(banned(logits), what).toEqual(banned(expected));
              const free = (all: readonly number[]) => all.map((logit) => (logit < BANNED / 2 ? 0 : logit));
              expect(deviation(free(logits), free(expected)), what).toBeLessThan(1e-6);
            }
          }
      }
    });

test('a row has the same bits whether its text is committed or drafted, among other rows and alone', async () => {
  const vocabulary = 333;
  const random = noise(9);
  const token = (): number => Math.floor(Math.abs(random()) * 1000) % 40;
  const text = Array.from({ length: 60 }, token);
  const drafts = Array.from({ length: 12 }, token);
  const rules: LogitRules = {
    repetition: 1.17,
    presence: 0.31,
    frequency: 0.23,
    biases: [{ token: 7, bias: 0.77 }],
    bans: [{ token: 9, after: [drafts[3] as number], until: Infinity }],
  };
  const chain: Tree = {
    tokens: [text.at(-1) as number, ...drafts],
    parents: Array.from({ length: 13 }, (_, i) => i - 1),
  };
  const rows = chain.tokens.map(() => Array.from({ length: vocabulary }, () => Math.fround(3 * random())));
  const prompt = 30;
  const together = await adjusted('all', rows, { text, prompt, base: 59, tree: chain, first: 0, rules }, 8, true);
  for (const row of [0, 1, 5, 12]) {
    const committed = [...text, ...drafts.slice(0, row)];
    const alone = { tokens: committed.slice(-1), parents: [-1] };
    const given = { text: committed, prompt, base: committed.length - 1, tree: alone, first: 0, rules };
    expect((await adjusted('all', [rows[row] as number[]], given, 8, false))[0]).toEqual(together[row]);
  }
  // Drafts that a cursor has read before the pass come first among the nodes.
  const later = { text, prompt, base: 59, tree: chain, first: 4, rules };
  expect(await adjusted('all', rows.slice(4, 6), later, 8, true)).toEqual(together.slice(4, 6));
});
