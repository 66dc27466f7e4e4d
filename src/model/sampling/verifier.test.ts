// Verification on the device, with random models: it keeps what plain decoding would have drawn, leaves the cache as
// causal passes would have left it, and takes one submit and one readback a round.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { meter } from '../../gpu/meter.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { chain, GREEDY, scoreRows } from '../../testing/goldens/golden.ts';
import { tinyCheckpoint } from '../../testing/toys/tiny.ts';
import type { Choice, Cursor, DeviceDistribution, OpenCursor, Sampling, Token, Tree } from '../interface.ts';
import { loadModel } from '../load/load-model.ts';
import type { Transformer } from '../transformer.ts';

const PREFIX = [3, 14, 15, 9, 26, 5, 35, 8, 9];
const ANCHOR = 11;
const SAMPLED: Sampling = { temperature: 1, topK: 0, topP: 1, minP: 0, seed: 7 };

let gpu: Gpu;
let model: Transformer;
/** Of the same vocabulary, another size. */
let other: Transformer;
beforeAll(async () => {
  gpu = await testGpu();
  model = await loadModel(gpu, tinyCheckpoint(), { batchInvariant: true });
  const config = { num_hidden_layers: 1, intermediate_size: 32 };
  other = await loadModel(gpu, tinyCheckpoint({ config }), { batchInvariant: true });
}, 600_000);
afterAll(() => {
  model[Symbol.dispose]();
  other[Symbol.dispose]();
});

const open = async (from: Transformer, options: OpenCursor = {}): Promise<Cursor> => {
  const cursor = await from.open({ capacity: 128, nodes: 64, ...options });
  await cursor.extend(PREFIX);
  await from.keepDistributions();
  return cursor;
};

/** The tokens that plain decoding draws after the anchor. */
const plain = async (count: number, sampling: Sampling): Promise<number[]> => {
  using cursor = await open(model);
  const tokens: number[] = [];
  while (tokens.length < count) {
    const pass = cursor.forward(chain([tokens.at(-1) ?? ANCHOR]));
    tokens.push(((await pass.draw(0, sampling).read())[0] as Choice).token);
    pass.accept([0]);
  }
  return tokens;
};

/** Logits that follow a sequence after PREFIX, by passes of one row. */
const causal = async (tokens: readonly number[]): Promise<Float32Array> => {
  using cursor = await open(model);
  return (await scoreRows(cursor, tokens, 1)).logits.slice(-model.vocabulary);
};

const tokensOf = (choices: readonly Choice[]): number[] => choices.map(({ token }) => token);

describe.each([
  ['greedy', GREEDY],
  ['sampled', SAMPLED],
  ['sampled with filters', { ...SAMPLED, temperature: 0.7, topK: 9, topP: 0.9, minP: 0.02 }],
] as const)('deterministic drafts, %s', (_, sampling) => {
  test.each([
    [0, 'corrected'],
    [2, 'corrected'],
    [5, 'bonus'],
  ] as const)('a chain with %i right drafts', async (right, source) => {
    const expected = await plain(6, sampling);
    const drafts = expected.slice(0, 5).map((token, i) => (i < right ? token : (token + 1) % 50));
    using cursor = await open(model);
    const verdict = await cursor.forward(chain([ANCHOR, ...drafts])).verify(null, sampling);
    expect(verdict).toMatchObject({ tokens: [ANCHOR, ...drafts], parents: [-1, 0, 1, 2, 3, 4], source });
    expect(verdict.path).toEqual(Array.from({ length: right + 1 }, (_, i) => i));
    expect(tokensOf(verdict.choices)).toEqual(expected.slice(0, right + 1));
    expect(cursor.length).toBe(PREFIX.length + right + 1);
    const next = await cursor.forward(chain([expected[right] as number])).logits.read();
    expect(next).toEqual(await causal([ANCHOR, ...expected.slice(0, right + 1)]));
  });

  test('a tree: its path is made contiguous, past 16 nodes too', async () => {
    const expected = await plain(4, sampling);
    const [a, b, c] = expected as [number, number, number];
    const wrong = (token: number) => (token + 1) % 50;
    const tokens = [ANCHOR, wrong(a), a, 1, 2, wrong(b), b, 3, c];
    const parents = [-1, 0, 0, 1, 1, 2, 2, 3, 6];
    for (const padding of [0, 20]) {
      const tree: Tree = {
        tokens: [...tokens, ...Array<number>(padding).fill(4)],
        parents: [...parents, ...Array.from({ length: padding }, (_, i) => (i % 2 === 0 ? 1 : 7))],
      };
      using cursor = await open(model);
      const verdict = await cursor.forward(tree).verify(null, sampling);
      expect(verdict).toMatchObject({ path: [0, 2, 6, 8], source: 'bonus', ...tree });
      expect(tokensOf(verdict.choices)).toEqual(expected);
      const next = await cursor.forward(chain([expected[3] as number])).logits.read();
      expect(next).toEqual(await causal([ANCHOR, ...expected]));
    }
  });
});

test('a fork verifies after its own rows', async () => {
  using cursor = await open(model, { forks: { count: 2, room: 16 } });
  const [fork, sibling] = cursor.fork(2, 16) as [Cursor, Cursor];
  sibling.forward(chain([1, 2, 3])).accept([0, 1, 2]);
  const [a, b, c] = (await plain(3, GREEDY)) as [number, number, number];
  const tree = { tokens: [ANCHOR, (a + 1) % 50, a, 1, b], parents: [-1, 0, 0, 1, 2] };
  const verdict = await fork.forward(tree).verify(null, GREEDY);
  expect(verdict).toMatchObject({ path: [0, 2, 4], source: 'bonus' });
  expect(tokensOf(verdict.choices)).toEqual([a, b, c]);
  cursor.adopt(fork);
  expect(cursor.length).toBe(PREFIX.length + 3);
  expect(await cursor.forward(chain([c])).logits.read()).toEqual(await causal([ANCHOR, a, b, c]));
});

/** Drafts of `count` tokens by another model, which the host never sees. */
const drafted = (cursor: Cursor, count: number, sampling: Sampling, distribution: boolean) => {
  const tokens: Token[] = [ANCHOR];
  const distributions: DeviceDistribution[] = [];
  for (let i = 0; i < count; i++) {
    const pass = cursor.forward(chain(tokens.slice(-1)));
    const draw = pass.draw(0, sampling, { distribution });
    pass.accept([0]);
    tokens.push(draw.token);
    if (draw.distribution) distributions.push(draw.distribution);
  }
  return { tokens, distributions };
};

describe('drafts of another model', () => {
  test('tokens on the device: a round is one submit and one readback of 16 bytes and 32 a node', async () => {
    using draft = await open(other);
    using target = await open(model);
    gpu.flush();
    const count = meter(gpu);
    const { tokens } = drafted(draft, 5, GREEDY, false);
    const verdict = await target.forward(chain(tokens)).verify(null, GREEDY);
    const { submits, readbacks, readbackBytes, dispatches } = count();
    expect({ submits, readbacks, readbackBytes }).toEqual({ submits: 1, readbacks: 1, readbackBytes: 16 + 6 * 32 });
    // Ten a layer, embedding, norm, head, draw: five times for the draft, once for the target; and the verdict.
    expect(dispatches).toBe(5 * (10 * other.layers + 4) + (10 * model.layers + 4) + 1);
    expect(tokensOf(verdict.choices)).toEqual(await plain(verdict.path.length, GREEDY));
    using again = await open(other);
    const read: number[] = [];
    for (let token = ANCHOR; read.length < 5; read.push(token)) {
      const pass = again.forward(chain([token]));
      token = ((await pass.draw(0, GREEDY).read())[0] as Choice).token;
      pass.accept([0]);
    }
    expect(verdict.tokens).toEqual([ANCHOR, ...read]);
  });

  test('sampled, with their distributions: a model that drafts for itself is always accepted', async () => {
    const seeds = Array.from({ length: 12 }, (_, seed) => seed);
    let kept = 0;
    for (const seed of seeds) {
      const sampling = { ...SAMPLED, temperature: 3, topP: 0.95, seed };
      for (const by of [model, other]) {
        using draft = await open(by);
        using target = await open(model);
        const count = meter(gpu);
        const { tokens, distributions } = drafted(draft, 4, { ...sampling, seed: seed ^ 0x9e3779b9 }, true);
        const verdict = await target.forward(chain(tokens)).verify(distributions, sampling);
        expect(count()).toMatchObject({ submits: 1, readbacks: 1 });
        const { path, choices, source } = verdict;
        expect(tokensOf(choices.slice(0, -1))).toEqual(verdict.tokens.slice(1, path.length));
        expect(source).toBe(path.length === 5 ? 'bonus' : 'corrected');
        if (by === model) expect(path).toHaveLength(5);
        else kept += path.length - 1;
        // Log-probabilities are those of the unmodified distribution.
        const own = await causal([ANCHOR, ...tokensOf(choices.slice(0, -1))]);
        const sum = Math.log(own.reduce((total, x) => total + Math.exp(x), 0));
        const last = choices.at(-1) as Choice;
        expect(last.logprob).toBeCloseTo((own[last.token] as number) - sum, 4);
      }
    }
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(4 * seeds.length);
  });
});

test('any number of draws of one pass, with distributions and without', async () => {
  using cursor = await open(model);
  const pass = cursor.forward(chain([ANCHOR, 4]));
  const keep = [...Array<boolean>(20).fill(false), ...Array<boolean>(18).fill(true), ...Array<boolean>(70).fill(false)];
  const draws = keep.map((distribution, seed) => pass.draw(1, { ...SAMPLED, seed }, { distribution }));
  const tokens = (await Promise.all(draws.map((draw) => draw.read()))).map(([choice]) => choice?.token);
  expect(draws.map(({ distribution }) => distribution !== null)).toEqual(keep);
  const again = cursor.forward(chain([ANCHOR, 4]));
  for (const seed of [0, 19, 20, 37, 38, 107])
    expect((await again.draw(1, { ...SAMPLED, seed }).read())[0]?.token).toBe(tokens[seed]);
});

describe('misuse is refused', () => {
  test('before anything runs', async () => {
    using cursor = await open(model);
    const distribution = { distribution: 0 };
    const verify = (tree: Tree, distributions: DeviceDistribution[] | null = null) =>
      cursor.forward(tree).verify(distributions, SAMPLED);
    await expect(verify({ tokens: [1, 2], parents: [-1, -1] })).rejects.toThrow('a draft has one root');
    await expect(verify(chain([1, 2, 3]), [distribution])).rejects.toThrow('1 distributions for 2 drafts');
    await expect(verify({ tokens: [1, 2, 3], parents: [-1, 0, 0] }, [distribution, distribution])).rejects.toThrow(
      'not a chain',
    );
    await expect(verify(chain(Array(17).fill(1)), Array(16).fill(distribution))).rejects.toThrow('the most is 15');
    expect(() => cursor.forward(chain([{ record: () => 10 ** 9 }]))).toThrow('device token 1000000000 is over');
    expect(cursor.length).toBe(PREFIX.length);
  });

  test('while the device decides, and twice', async () => {
    using cursor = await open(model);
    const pass = cursor.forward(chain([1, 2]));
    const verdict = pass.verify(null, GREEDY);
    expect(() => cursor.forward(chain([1]))).toThrow('the device is deciding on this cursor');
    expect(() => cursor.rewind(0)).toThrow('the device is deciding on this cursor');
    await verdict;
    await expect(pass.verify(null, GREEDY)).rejects.toThrow('the cursor has moved on since');
    expect(() => pass.accept([0])).toThrow('the cursor has moved on since');
    const extended = await cursor.extend([4]);
    await expect(extended.verify(null, GREEDY)).rejects.toThrow('committed already');
  });
});
