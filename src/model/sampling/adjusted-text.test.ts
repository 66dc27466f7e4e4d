// Passes of a cursor with rules: every row's logits are those of the model, changed as the CPU reference changes them for
// the text that the row follows; with the same bits however the text came about.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { meter } from '../../gpu/meter.ts';
import { adjustReference } from '../../kernels/sampling/adjust-logits.reference.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { deviation } from '../../testing/device/run-kernel.ts';
import { chain, GREEDY } from '../../testing/goldens/golden.ts';
import { tinyCheckpoint } from '../../testing/toys/tiny.ts';
import type { Cursor, LogitRules, Token, Tree } from '../interface.ts';
import { loadModel } from '../load/load-model.ts';
import type { Transformer } from '../transformer.ts';

const RULES: LogitRules = {
  repetition: 1.3,
  presence: 0.4,
  frequency: 0.3,
  biases: [{ token: 5, bias: 1.25 }],
  bans: [{ token: 8, after: [5], until: Number.POSITIVE_INFINITY }],
};
const PROMPT = Array.from({ length: 20 }, (_, i) => (7 * i * i + 3) % 40);

let gpu: Gpu;
let model: Transformer;
beforeAll(async () => {
  gpu = await testGpu();
  model = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
}, 600_000);
afterAll(() => model[Symbol.dispose]());

/** A cursor that has read all of this text but its last token. */
const open = async (text: readonly number[], rules: LogitRules | null): Promise<Cursor> => {
  const cursor = await model.open({ capacity: 128, nodes: 64 });
  await cursor.adjust(rules && { rules, prompt: PROMPT.length, tokens: () => text });
  await cursor.extend(text.slice(0, -1));
  return cursor;
};

const rowsOf = async (text: readonly number[], tree: Tree, rules: LogitRules | null): Promise<number[][]> => {
  using cursor = await open(text, rules);
  const data = await cursor.forward(tree).logits.read();
  return tree.tokens.map((_, i) => [...data.slice(i * model.vocabulary, (i + 1) * model.vocabulary)]);
};

test.each([9, 40])('a tree of %i nodes: each row by its own text', async (nodes) => {
  const text = [...PROMPT, 5, 9, 5];
  const parents = Array.from({ length: nodes }, (_, i) => (i === 0 ? -1 : (i - 1) >> 1));
  const tree = { tokens: parents.map((_, i) => (i === 0 ? 5 : (3 * i) % 11)), parents };
  const [raw, adjusted] = [await rowsOf(text, tree, null), await rowsOf(text, tree, RULES)];
  const path = (node: number): number[] =>
    node < 1 ? [] : [...path(parents[node] as number), tree.tokens[node] as number];
  for (const [node, row] of adjusted.entries()) {
    const expected = adjustReference(raw[node] as number[], [...text, ...path(node)], PROMPT.length, RULES);
    expect((row[8] as number) < -1e29).toBe((expected[8] as number) < -1e29);
    const finite = (all: number[]) => all.map((logit) => Math.max(logit, -1e3));
    expect(deviation(finite(row), finite(expected)), `node ${node}`).toBeLessThan(1e-5);
  }
  // Committed instead of drafted: the same bits.
  for (const node of [0, 3, nodes - 1]) {
    const committed = [...text, ...path(node)];
    expect((await rowsOf(committed, chain(committed.slice(-1)), RULES))[0]).toEqual(adjusted[node]);
  }
});

test('a prompt that is read, and drafts that a cursor has read and the host has not', async () => {
  const text = [...PROMPT, 4];
  using reader = await model.open({ capacity: 128 });
  await reader.adjust({ rules: RULES, prompt: PROMPT.length, tokens: () => text });
  let pass = await reader.extend(text);
  const first = [...(await pass.logits.read())];
  const drafts: Token[] = [];
  for (let i = 0; i < 5; i++) {
    const { token } = pass.draw(0, GREEDY);
    drafts.push(token);
    pass = reader.forward(chain([token]));
    pass.accept([0]);
  }
  const logits = [...(await pass.logits.read())];
  expect(first).toEqual((await rowsOf(text, chain([4]), RULES))[0]);
  // The same drafts, one by one and read.
  const written = [...text];
  for (let i = 0; i < 5; i++) {
    const row = (await rowsOf(written, chain(written.slice(-1)), RULES))[0] as number[];
    written.push(row.indexOf(Math.max(...row)));
  }
  expect(logits).toEqual((await rowsOf(written, chain(written.slice(-1)), RULES))[0]);
});

test('a cursor without rules runs no kernel for them, and frees what it had', async () => {
  using cursor = await model.open({ capacity: 64 });
  await cursor.extend(PROMPT);
  const before = gpu.bytes;
  const dispatches = async (): Promise<number> => {
    gpu.flush();
    const count = meter(gpu);
    await cursor
      .forward(chain([3]))
      .draw(0, GREEDY)
      .read();
    return count().dispatches;
  };
  const plain = await dispatches();
  await cursor.adjust({ rules: RULES, prompt: 1, tokens: () => [...PROMPT, 3] });
  expect(await dispatches()).toBe(plain + 1);
  expect(() => cursor.fork(1, 4)).toThrow('forks of a cursor whose logits are adjusted');
  await cursor.adjust(null);
  expect(await dispatches()).toBe(plain);
  expect(gpu.bytes).toBe(before);
});
