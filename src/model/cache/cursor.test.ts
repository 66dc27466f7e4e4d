// Cursors on a random two-layer model: a tree, a fork, a window and a wide tree score exactly what causal passes over
// the same tokens score; misuse is refused before anything runs; a token takes one submit.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { meter } from '../../gpu/meter.ts';
import { openNodeGpu } from '../../gpu/node.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { chain, GREEDY, scoreRows } from '../../testing/goldens/golden.ts';
import { tinyCheckpoint } from '../../testing/toys/tiny.ts';
import type { Cursor, OpenCursor, Tree } from '../interface.ts';
import { loadModel } from '../load/load-model.ts';
import type { Transformer } from '../transformer.ts';

const PREFIX = [3, 14, 15, 9, 26, 5, 35, 8, 9];

let gpu: Gpu;
let model: Transformer;
beforeAll(async () => {
  gpu = await testGpu();
  model = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
}, 600_000);
afterAll(() => model[Symbol.dispose]());

const open = async (prefix: readonly number[], options: OpenCursor = {}): Promise<Cursor> => {
  const cursor = await model.open({ capacity: 96, ...options });
  if (prefix.length > 0) await cursor.extend(prefix);
  return cursor;
};

/** Logits of the last of some tokens, by passes of one row. */
const causal = async (tokens: readonly number[]): Promise<Float32Array> => {
  using cursor = await open([]);
  const { logits } = await scoreRows(cursor, tokens, 1);
  return logits.slice(-model.vocabulary);
};

const pathTo = ({ parents }: Tree, node: number): number[] =>
  node < 0 ? [] : [...pathTo({ tokens: [], parents }, parents[node] as number), node];

/** Every row of a tree after PREFIX against a causal pass over its path. */
const expectCausal = async (tree: Tree, logits: Float32Array): Promise<void> => {
  for (let node = 0; node < tree.tokens.length; node++) {
    const path = pathTo(tree, node).map((step) => tree.tokens[step] as number);
    const expected = await causal([...PREFIX, ...path]);
    expect(logits.slice(node * model.vocabulary, (node + 1) * model.vocabulary)).toEqual(expected);
  }
};

describe('bit for bit what causal passes give', () => {
  test('a tree, and the cache after one of its paths was accepted', async () => {
    const tree = { tokens: [7, 1, 2, 3, 4, 5, 6], parents: [-1, 0, 0, 1, 2, 4, 4] };
    using cursor = await open(PREFIX);
    const pass = cursor.forward(tree);
    await expectCausal(tree, await pass.logits.read());
    pass.accept([0, 2, 4, 6]);
    expect(cursor.length).toBe(PREFIX.length + 4);
    const next = await cursor.forward(chain([11])).logits.read();
    expect(next).toEqual(await causal([...PREFIX, 7, 2, 4, 6, 11]));
  });

  test('a tree of 40 nodes, in three passes', async () => {
    const tokens = Array.from({ length: 40 }, (_, i) => (i * 7) % 50);
    const tree = { tokens, parents: tokens.map((_, i) => (i < 2 ? i - 1 : i - 2)) };
    using cursor = await open(PREFIX, { nodes: 64, tapLayers: [1] });
    const pass = cursor.forward(tree);
    const logits = await pass.logits.read();
    const taps = await (pass.taps[0] as { read(): Promise<Float32Array> }).read();
    const draw = pass.draw(39, GREEDY);
    // The deepest rows of both branches, and one row of each pass.
    for (const node of [0, 15, 16, 33, 38, 39]) {
      const path = pathTo(tree, node).map((step) => tokens[step] as number);
      expect(logits.slice(node * 50, (node + 1) * 50)).toEqual(await causal([...PREFIX, ...path]));
    }
    expect(taps.length).toBe(40 * 32);
    const last = logits.slice(-50);
    expect((await draw.read())[0]?.token).toBe(last.indexOf(Math.max(...last)));
  });

  test('several roots: continuations scored side by side', async () => {
    const tree = { tokens: [1, 2, 3, 4], parents: [-1, -1, 0, 1] };
    using cursor = await open(PREFIX);
    const pass = cursor.forward(tree);
    await expectCausal(tree, await pass.logits.read());
    pass.accept([1, 3]);
    expect(await cursor.forward(chain([9])).logits.read()).toEqual(await causal([...PREFIX, 2, 4, 9]));
  });

  // After 9 rows, at the end of a chunk of 64 keys, and just across it.
  test.each([9, 62, 64, 70])('forks of %i rows in one pass, then one of them adopted', async (length) => {
    const prefix = Array.from({ length }, (_, i) => (i * 13) % 50);
    using cursor = await open(prefix, { forks: { count: 3, room: 8 } });
    const forks = cursor.fork(3, 8);
    const own = [[1], [2, 3], [4, 5, 6]];
    for (const times of [1, 2]) {
      const passes = model.forward(forks.map((fork, i) => ({ cursor: fork, tree: chain(own[i] as number[]) })));
      const logits = await Promise.all(passes.map((pass) => pass.logits.read()));
      for (const [i, pass] of passes.entries()) pass.accept((own[i] as number[]).map((_, node) => node));
      for (const [i, tokens] of own.entries()) {
        const all = Array<number[]>(times).fill(tokens).flat();
        expect(logits[i]?.slice(-50)).toEqual(await causal([...prefix, ...all]));
      }
    }
    expect(forks.map((fork) => fork.length - length)).toEqual([2, 4, 6]);
    expect(() => cursor.forward(chain([1]))).toThrow('frozen while its forks live');
    expect(() => forks[1]?.rewind(length - 1)).toThrow(`the cursor holds ${length} to ${length + 4} rows`);
    cursor.adopt(forks[2] as Cursor);
    expect(cursor.length).toBe(length + 6);
    expect(() => forks[0]?.forward(chain([1]))).toThrow('disposed');
    expect(await cursor.forward(chain([9])).logits.read()).toEqual(await causal([...prefix, 4, 5, 6, 4, 5, 6, 9]));
  });

  test('a rewound cursor forgets', async () => {
    using cursor = await open([...PREFIX, 40, 41, 42]);
    cursor.rewind(PREFIX.length);
    expect(await cursor.forward(chain([1])).logits.read()).toEqual(await causal([...PREFIX, 1]));
  });

  test('extend: any chunk, and its one row is the last', async () => {
    const tokens = Array.from({ length: 37 }, (_, i) => (i * 11) % 50);
    const expected = await causal(tokens);
    for (const chunk of [1, 3, 16, 32]) {
      using cursor = await open([]);
      const seen: number[] = [];
      const pass = await cursor.extend(tokens, { chunk, onProgress: (rows) => seen.push(rows) });
      expect(await pass.logits.read()).toEqual(expected);
      expect([cursor.length, seen.length, seen.at(-1)]).toEqual([37, Math.ceil(37 / chunk), 37]);
    }
    // Passes of 32 rows leave out most of the last layer, but for a pool.
    const pooled = [];
    for (const chunk of [16, 32]) {
      using cursor = await open([], { pool: true });
      await cursor.extend(tokens, { chunk });
      pooled.push((await model.gather([], [{ cursor, first: 0, count: 37 }])).pooled[0]);
    }
    expect(pooled[1]).toEqual(pooled[0]);
  });
});

// Its siblings push later nodes into the next chunk; their keys are added up where a causal pass has them.
test.each([50, 60, 63, 64, 110, 127])(
  'trees after %i rows, across the edge of a chunk: bit for bit',
  async (length) => {
    const prefix = Array.from({ length }, (_, i) => (i * 13) % 50);
    const tokens = Array.from({ length: 40 }, (_, i) => (i * 7 + length) % 50);
    // Bushy, and half of a chain with siblings.
    for (const parents of [
      tokens.map((_, i) => Math.floor((i * (i % 3)) / 3) - (i === 0 ? 1 : 0)),
      tokens.map((_, i) => (i < 2 ? i - 1 : i - 1 - (i % 2))),
    ]) {
      const tree = { tokens, parents };
      using cursor = await open(prefix, { capacity: 160, nodes: 64 });
      const logits = await cursor.forward(tree).logits.read();
      for (const node of [1, 7, 15, 16, 26, 33, 38, 39]) {
        using alone = await open(prefix, { capacity: 160 });
        const path = pathTo(tree, node).map((step) => tokens[step] as number);
        const { logits: expected } = await scoreRows(alone, path, 1);
        expect(logits.slice(node * 50, (node + 1) * 50), `node ${node}`).toEqual(expected.slice(-50));
      }
    }
  },
);

test('a sliding window hides what lies `window` or more positions back', async () => {
  const config = { architectures: ['MistralForCausalLM'], sliding_window: 4, num_hidden_layers: 1 };
  using windowed = await loadModel(gpu, tinyCheckpoint({ config }), { batchInvariant: true });
  const last = async (tokens: readonly number[], chunk: number): Promise<Float32Array> => {
    using cursor = await windowed.open({ capacity: 64 });
    return await (await cursor.extend(tokens, { chunk })).logits.read();
  };
  const base = [1, 2, 3, 4, 5, 6, 7, 8];
  const same = await last(base, 1);
  expect(await last([9, 9, 9, 9, 5, 6, 7, 8], 1)).toEqual(same); // position 7 sees positions 4 to 7
  expect(await last([1, 2, 3, 4, 9, 6, 7, 8], 1)).not.toEqual(same);
  expect(await last(base, 16)).toEqual(same);
  // In a tree the window counts depths: node 5 is 4 deep after 4 rows, and sees its 3 nearest ancestors.
  const tree = { tokens: [5, 40, 6, 7, 41, 8], parents: [-1, 0, 0, 2, 3, 3] };
  using cursor = await windowed.open({ capacity: 64 });
  await cursor.extend(base.slice(0, 4));
  expect((await cursor.forward(tree).logits.read()).slice(-50)).toEqual(same);
});

test('a device that is lost while a prompt is read rejects it, and nothing else', async () => {
  const lost = await openNodeGpu();
  const tiny = await loadModel(lost, tinyCheckpoint(), { batchInvariant: true });
  const cursor = await tiny.open({ capacity: 160 });
  const reading = cursor.extend(Array.from({ length: 150 }, (_, i) => i % 40));
  lost.device.destroy();
  await expect(reading).rejects.toMatchObject({ code: 'device-lost' });
});

test('a ring has places for the forks that its cursor was opened for, and refuses others', async () => {
  const config = { architectures: ['MistralForCausalLM'], sliding_window: 4, max_position_embeddings: 4096 };
  using windowed = await loadModel(gpu, tinyCheckpoint({ config }), { batchInvariant: true });
  using cursor = await windowed.open({ capacity: 4000, forks: { count: 2, room: 4 } });
  await cursor.extend([1, 2, 3, 4, 5]);
  for (const [count, room] of [
    [3, 4],
    [2, 300],
  ] as const)
    expect(() => cursor.fork(count, room)).toThrow('do not fit');
  expect(cursor.fork(2, 4)).toHaveLength(2);
});

test('an f16 cache is near the f32 one, and batch invariant too', async () => {
  const tokens = [...PREFIX, ...PREFIX];
  using wide = await open([]);
  const { logits: exact } = await scoreRows(wide, tokens);
  const runs: Float32Array[] = [];
  for (const chunk of [1, 16]) {
    using cursor = await model.open({ capacity: 64, cache: 'f16' });
    runs.push((await scoreRows(cursor, tokens, chunk)).logits);
  }
  expect(runs[0]).toEqual(runs[1]);
  expect(runs[0]).not.toEqual(exact);
  const worst = exact.reduce((most, x, i) => Math.max(most, Math.abs(x - (runs[0]?.[i] as number))), 0);
  expect(worst).toBeLessThan(0.03);
});

test('a token costs one submit, one readback and ten dispatches a layer, however many draws it has', async () => {
  using cursor = await open(PREFIX);
  const before = { ...gpu.counters };
  const pass = cursor.forward(chain([1]));
  const draws = [pass.draw(0, GREEDY), pass.draw(0, { ...GREEDY, temperature: 1, seed: 4 })];
  await Promise.all(draws.map((draw) => draw.read()));
  expect(gpu.counters.submits - before.submits).toBe(1);
  expect(gpu.counters.readbacks - before.readbacks).toBe(1);
  // Embedding, ten a layer, final norm, head, sampling.
  expect(gpu.counters.dispatches - before.dispatches).toBe(1 + 10 * model.layers + 2 + 1);
});

test('a draw made before the next pass survives it; unread logits do not', async () => {
  using cursor = await open(PREFIX);
  const pass = cursor.forward(chain([1]));
  const logits = await pass.logits.read();
  const draw = pass.draw(0, GREEDY);
  pass.accept([0]);
  cursor.forward(chain([2]));
  expect((await draw.read())[0]?.token).toBe(logits.indexOf(Math.max(...logits)));
  await expect(pass.logits.read()).rejects.toThrow('this forward pass is over');
  expect(() => pass.draw(0, GREEDY)).toThrow('this forward pass is over');
});

test('a draw reaches the device when it is recorded, not when its token is handed on', async () => {
  using cursor = await open(PREFIX);
  const pass = cursor.forward(chain([1]));
  const since = meter(gpu);
  const { token } = pass.draw(0, GREEDY);
  expect(since().dispatches).toBe(0);
  const entry = token.record();
  expect(token.record()).toBe(entry);
  expect(since().dispatches).toBe(1);
});

test('top: the most probable children with their log-probabilities', async () => {
  using cursor = await open(PREFIX);
  const pass = cursor.forward(chain([1, 2]));
  const logits = await pass.logits.read();
  const row = logits.slice(50);
  const order = [...row.keys()].sort((a, b) => (row[b] as number) - (row[a] as number));
  const sum = row.reduce((total, x) => total + Math.exp(x), 0);
  const since = meter(gpu);
  const [best = [], first = []] = await pass.top([1, 0], 7);
  expect(since()).toMatchObject({ submits: 1, readbacks: 1 });
  expect(first[0]?.token).toBe(logits.indexOf(Math.max(...logits.slice(0, 50))));
  expect(best.map(({ token }) => token)).toEqual(order.slice(0, 7));
  for (const { token, logprob } of best) expect(logprob).toBeCloseTo((row[token] as number) - Math.log(sum), 4);
});

test('top is not lost when the open submission ends while its memory is made', async () => {
  using cursor = await open(PREFIX);
  const pass = cursor.forward(chain([1]));
  const asked = pass.top([0], 3);
  gpu.flush();
  const [[best] = []] = await asked;
  const [{ token } = { token: -1 }] = await pass.draw(0, GREEDY).read();
  expect(best?.token).toBe(token);
});

describe('misuse is refused before anything runs', () => {
  test('context overflow names both lengths', async () => {
    using cursor = await model.open({ capacity: 12 });
    await expect(cursor.extend(Array(13).fill(1))).rejects.toMatchObject({
      code: 'bad-request',
      message: '0 rows and 13 more exceed the 12 that this cursor can hold',
    });
    const before = gpu.counters.dispatches;
    await cursor.extend(PREFIX);
    expect(() => cursor.forward(chain([1, 2, 3, 4]))).toThrow('9 rows and 4 more exceed the 12');
    expect(gpu.counters.dispatches).toBeGreaterThan(before);
    // Four nodes of depth 3 fit: positions count, not slots.
    cursor.forward({ tokens: [1, 2, 3, 4], parents: [-1, 0, 0, 1] });
    await expect(model.open({ capacity: 161 })).rejects.toThrow('the context of this model is 160');
  });

  test('trees, tokens, paths, rows', async () => {
    using cursor = await open(PREFIX);
    expect(() => cursor.forward({ tokens: [], parents: [] })).toThrow('without nodes');
    expect(() => cursor.forward({ tokens: [1, 2], parents: [-1, 1] })).toThrow('node 1 names 1 as its parent');
    expect(() => cursor.forward(chain([50]))).toThrow('token 50 is outside the vocabulary of 50');
    expect(() => cursor.forward(chain(Array(17).fill(1)))).toThrow('17 rows in one pass; here the most is 16');
    const pass = cursor.forward({ tokens: [1, 2, 3], parents: [-1, 0, 0] });
    expect(() => pass.accept([0, 1, 2])).toThrow('[0, 1, 2] is not a path from a root');
    expect(() => pass.draw(3, GREEDY)).toThrow('row 3 of a pass of 3');
    pass.accept([0, 2]);
    expect(() => pass.accept([0, 2])).toThrow('the cursor has moved on since');
    expect(() => cursor.rewind(12)).toThrow('rewind to 12: the cursor holds 0 to 11 rows');
    await expect(cursor.extend([])).rejects.toThrow('no tokens');
  });

  test('forks', async () => {
    using cursor = await open(PREFIX, { forks: { count: 2, room: 4 } });
    expect(() => cursor.fork(4, 64)).toThrow("4 forks of 64 rows do not fit this cursor's cache");
    const forks = cursor.fork(2, 4);
    const [first, second] = forks as [Cursor, Cursor];
    expect(() => first.forward(chain([1, 2, 3, 4, 5]))).toThrow('exceed the 13 that this cursor can hold');
    expect(() => first.fork(1, 1)).toThrow('cannot be forked again');
    expect(() =>
      model.forward([
        { cursor: first, tree: chain([1]) },
        { cursor: first, tree: chain([1]) },
      ]),
    ).toThrow('twice');
    using other = await open(PREFIX);
    expect(() =>
      model.forward([
        { cursor: first, tree: chain([1]) },
        { cursor: other, tree: chain([1]) },
      ]),
    ).toThrow('must be forks of one cursor');
    expect(() => other.adopt(second)).toThrow('no living fork');
    first[Symbol.dispose]();
    second[Symbol.dispose]();
    cursor.forward(chain([1]));
  });

  test('an aborted extend stops between chunks', async () => {
    using cursor = await open([]);
    const abort = new AbortController();
    const run = cursor.extend(Array(64).fill(1), { signal: abort.signal, onProgress: () => abort.abort() });
    await expect(run).rejects.toMatchObject({ code: 'aborted' });
    expect(cursor.length).toBe(32);
  });
});
