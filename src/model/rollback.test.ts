// What is forgotten leaves no trace, whatever a family keeps of a row. The reference rounds
// of drafts, and random passes, trees, rewinds and forks compared with a cursor that only ever read what was kept.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import {
  chain,
  goldenTensor,
  loadShared,
  readGolden,
  relativeError,
  scoreRows,
  TINY_FAMILIES,
} from '../testing/goldens/golden.ts';
import { noShared } from '../testing/goldens/shared.ts';
import type { CachePrecision, Cursor, Tree } from './interface.ts';
import { SPARE_ROWS } from './limits.ts';
import type { Transformer } from './transformer.ts';

const TOLERANCE = 1e-3;

/** The logits after one more token, and the cursor as it was. */
const probe = async (cursor: Cursor): Promise<Float32Array> => cursor.forward(chain([7])).logits.read();

const fresh = async (model: Transformer, tokens: readonly number[]): Promise<Float32Array> => {
  using cursor = await model.open({ capacity: 256 });
  if (tokens.length > 0) await cursor.extend(tokens);
  return probe(cursor);
};

interface WalkOptions {
  readonly kind: CachePrecision;
  readonly capacity?: number;
  readonly steps?: number;
  readonly spare?: number;
  /** Rows to begin with. */
  readonly begin?: number;
  /** Of forks. */
  readonly count?: number;
}

/**
 * Random passes, compared every third time with a cursor that only ever read what was kept; gives the slots of a layer
 * with a window and of all others.
 */
const walk = async (
  model: Transformer,
  seed: number,
  { kind, capacity = 256, steps = 24, spare = SPARE_ROWS, count = 3, begin = 0 }: WalkOptions,
): Promise<{ readonly ring: number; readonly slots: number }> => {
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const tokens = (count: number): number[] => Array.from({ length: count }, () => random(model.vocabulary));
  using cursor = await model.open({ capacity, nodes: 40, cache: kind, forks: { count, room: 60 }, spare });
  let text = begin > 0 ? tokens(begin) : [];
  if (begin > 0) await cursor.extend(text);
  const check = async (): Promise<void> => {
    using plain = await model.open({ capacity, cache: kind, spare: capacity });
    if (text.length > 0) await plain.extend(text);
    expect(cursor.length).toBe(text.length);
    const expected = await probe(plain);
    expect(await probe(cursor), `${text.length} rows`).toEqual(expected);
  };
  const randomTree = (nodes: number): Tree => ({
    tokens: tokens(nodes),
    parents: Array.from({ length: nodes }, (_, i) => (i === 0 ? -1 : Math.max(0, i - 1 - random(4)))),
  });
  /** A random pass on a cursor; gives the tokens that were kept. */
  const pass = (on: Cursor, most: number): number[] => {
    const tree = randomTree(1 + random(most));
    const forward = on.forward(tree);
    const path: number[] = [];
    for (let node = random(tree.tokens.length); node >= 0; node = tree.parents[node] as number) path.unshift(node);
    if (random(4) === 0) return []; // forgotten
    forward.accept(path);
    return path.map((node) => tree.tokens[node] as number);
  };
  for (let step = 0; step < steps; step++) {
    const kinds = ['extend', 'tree', 'tree', 'tree', 'back', 'forks', 'deep'] as const;
    const doing = text.length > capacity - 106 ? 'deep' : kinds[random(kinds.length)];
    if (doing === 'extend') {
      const more = tokens(1 + random(Math.max(40, capacity - 106 - text.length)));
      await cursor.extend(more, { chunk: 1 + random(16) });
      text = [...text, ...more];
    } else if (doing === 'tree') text = [...text, ...pass(cursor, 40)];
    else if (doing === 'back' || doing === 'deep') {
      const length = Math.max(0, text.length - random(doing === 'deep' ? text.length + 1 : 8));
      cursor.rewind(length);
      text = text.slice(0, length);
    } else {
      const forks = cursor.fork(count, 60);
      const written = forks.map((): number[] => []);
      for (let round = 0; round < 6; round++) {
        const live = forks.map((fork, i) => ({ fork, i })).filter(() => random(3) > 0);
        const trees = live.map(() => randomTree(1 + random(4)));
        if (live.length === 0) continue;
        const passes = model.forward(live.map(({ fork }, j) => ({ cursor: fork, tree: trees[j] as Tree })));
        for (const [j, { i }] of live.entries()) {
          const { parents, tokens: named } = trees[j] as { parents: number[]; tokens: number[] };
          const path: number[] = [];
          for (let node = random(parents.length); node >= 0; node = parents[node] as number) path.unshift(node);
          passes[j]?.accept(path);
          written[i]?.push(...path.map((node) => named[node] as number));
        }
      }
      const chosen = random(count);
      const [fork, own] = [forks[chosen] as Cursor, written[chosen] as number[]];
      const keep = random(own.length + 1);
      fork.rewind(text.length + keep);
      if (random(3) === 0) for (const each of forks) each[Symbol.dispose]();
      else {
        cursor.adopt(fork);
        text = [...text, ...own.slice(0, keep)];
      }
    }
    if (step % 3 === 2) await check();
  }
  await check();
  return { ring: cursor.cache.ring?.slots ?? cursor.cache.slots, slots: cursor.cache.slots };
};

/** One for all tests around it. The rows of a pass change no bit, which other tests have looked at. */
const sharedModel = (name: string): (() => Transformer) => {
  let model: Transformer;
  beforeAll(async () => {
    model = await loadShared(await testGpu(), `golden/${name}`, { precision: 'f32', batchInvariant: true });
  });
  afterAll(() => model[Symbol.dispose]());
  return () => model;
};

describe.skipIf(noShared).each(TINY_FAMILIES)('%s', (name) => {
  const model = sharedModel(name);

  test('the rounds of the reference: drafts that were dropped are forgotten', async () => {
    const { rollback } = readGolden(name);
    using model = await loadShared(await testGpu(), `golden/${name}`);
    using cursor = await model.open({ capacity: 64 });
    await scoreRows(cursor, rollback.prompt);
    for (const { start, tokens, accepted, logits } of rollback.rounds) {
      expect(cursor.length).toBe(start);
      const pass = cursor.forward(chain(tokens));
      const expected = goldenTensor(name, `${logits}.f32`);
      expect(relativeError(await pass.logits.read(), expected), logits).toBeLessThan(TOLERANCE);
      pass.accept(tokens.slice(0, accepted).map((_, i) => i));
    }
    expect(await probe(cursor)).toEqual(await fresh(model, rollback.kept));
  });

  test.each([
    [1, 'f32'],
    [2, 'q8'],
    [3, 'f16'],
  ] as const)('random passes, trees, rewinds and forks, seed %i, a cache of %s', async (seed, kind) => {
    await walk(model(), seed, { kind });
  });
});

const WINDOWED = ['gemma3-tiny', 'gemma2-tiny', 'phi3-tiny'];
const RING = { capacity: 512, steps: 24, spare: 0, count: 2, begin: 380 };

describe.skipIf(noShared).each(WINDOWED)('%s, layers with a window keep a ring', (name) => {
  const model = sharedModel(name);

  test.each([
    [1, 'f32'],
    [2, 'q8'],
    [3, 'f16'],
  ] as const)('no rewind shows what the ring has lost, seed %i, a cache of %s', async (seed, kind) => {
    const { ring, slots } = await walk(model(), seed, { ...RING, kind });
    expect(ring).toBeLessThan(slots / 1.5);
  });

  test('forks right after a rewind that the ring cannot serve do not take each other’s rows', async () => {
    const { vocabulary } = model();
    const text = Array.from({ length: 500 }, (_, i) => (i * 37) % vocabulary);
    const open = (spare: number) => model().open({ capacity: 512, forks: { count: 2, room: 1 }, spare });
    const logits = async (cursor: Cursor): Promise<Float32Array[]> => {
      const forks = cursor.fork(2, 1);
      const passes = model().forward(forks.map((fork, i) => ({ cursor: fork, tree: chain([i]) })));
      const read = await Promise.all(passes.map((pass) => pass.logits.read()));
      for (const fork of forks) fork[Symbol.dispose]();
      return read;
    };
    using cursor = await open(0);
    await cursor.extend(text);
    await logits(cursor); // forks lie after the rows, so that the ring loses more of them
    expect([cursor.keeps(400), cursor.keeps(315)]).toEqual([true, false]);
    cursor.rewind(315);
    using plain = await open(512);
    await plain.extend(text.slice(0, 315));
    expect(await logits(cursor)).toEqual(await logits(plain));
  });
});
