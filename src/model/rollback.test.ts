// What is forgotten leaves no trace, whatever a family keeps of a row. The reference rounds
// of drafts, and random passes, trees, rewinds and forks compared with a cursor that only ever read what was kept.
import { describe, expect, test } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import { chain, goldenTensor, loadShared, readGolden, relativeError, scoreRows } from '../testing/goldens/golden.ts';
import { noShared } from '../testing/goldens/shared.ts';
import type { Cursor, Tree } from './interface.ts';
import type { Transformer } from './transformer.ts';

const MODELS = [
  'lfm2-tiny',
  'qwen3_5-tiny',
  'phi3-longrope-tiny',
  'gemma3-tiny',
  'olmo2-tiny',
  'gemma2-tiny',
  'phi3-tiny',
  'smollm3-tiny',
  'granite-tiny',
];
const TOLERANCE = 1e-3;

/** The logits after one more token, and the cursor as it was. */
const probe = async (cursor: Cursor): Promise<Float32Array> => cursor.forward(chain([7])).logits.read();

const fresh = async (model: Transformer, tokens: readonly number[]): Promise<Float32Array> => {
  using cursor = await model.open({ capacity: 256 });
  if (tokens.length > 0) await cursor.extend(tokens);
  return probe(cursor);
};

describe.skipIf(noShared).each(MODELS)('%s', (name) => {
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
    using model = await loadShared(await testGpu(), `golden/${name}`, { precision: 'f32', batchInvariant: true });
    let state = seed;
    const random = (below: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const tokens = (count: number): number[] => Array.from({ length: count }, () => random(model.vocabulary));
    using cursor = await model.open({ capacity: 256, nodes: 40, cache: kind, forks: { count: 3, room: 60 } });
    let text: number[] = [];
    const check = async (): Promise<void> => {
      using plain = await model.open({ capacity: 256, cache: kind });
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
    for (let step = 0; step < 24; step++) {
      const kinds = ['extend', 'tree', 'tree', 'tree', 'back', 'forks', 'deep'] as const;
      const doing = text.length > 150 ? 'deep' : kinds[random(kinds.length)];
      if (doing === 'extend') {
        const more = tokens(1 + random(40));
        await cursor.extend(more, { chunk: 1 + random(16) });
        text = [...text, ...more];
      } else if (doing === 'tree') text = [...text, ...pass(cursor, 40)];
      else if (doing === 'back' || doing === 'deep') {
        const length = Math.max(0, text.length - random(doing === 'deep' ? text.length + 1 : 8));
        cursor.rewind(length);
        text = text.slice(0, length);
      } else {
        const forks = cursor.fork(3, 60);
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
        const chosen = random(3);
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
  });
});
