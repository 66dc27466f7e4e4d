import { describe, expect, it } from 'vitest';
import { toyModel } from '../../testing/toys/toy-model.ts';
import { PrefixCache } from './prefix-cache.ts';
import type { Judge } from './system.ts';

const models = { target: toyModel({ vocabulary: 16, sharpness: 1, context: 3000 }) };

/** A run that computes the whole prompt; returns how much of it was known. */
const turn = async (
  cache: PrefixCache,
  prompt: readonly number[],
  rows = prompt.length + 10,
  loaded: Pick<typeof models, 'target'> = models,
): Promise<number> => {
  const cursor = await cache.open('target', loaded, prompt, rows);
  const known = cursor.length;
  await cursor.extend(prompt.slice(known));
  cache.keep(prompt);
  return known;
};

describe('cache of a conversation', () => {
  it('keeps the common prefix, but never a whole prompt', async () => {
    const cache = new PrefixCache();
    expect(await turn(cache, [1, 2, 3])).toBe(0);
    expect(await turn(cache, [1, 2, 3, 4, 5])).toBe(3);
    expect(await turn(cache, [1, 2, 3, 4, 5])).toBe(4);
    expect(await turn(cache, [1, 2, 9, 9])).toBe(2);
    expect(await turn(cache, [7])).toBe(0);
  });

  it('keeps it while the cache is large enough, and grows by doubling up to the context', async () => {
    const cache = new PrefixCache();
    const capacity = async (rows: number) => (await cache.open('target', models, [1], rows)).capacity;
    expect([await capacity(3), await capacity(512), await capacity(513), await capacity(2500)]).toEqual([
      512, 512, 1024, 3000,
    ]);
    expect(await turn(cache, [1, 2, 3], 100)).toBe(0);
    expect(await turn(cache, [1, 2, 3, 4], 3000)).toBe(3);
  });

  it('opens another cursor for other taps, and forgets on demand', async () => {
    const cache = new PrefixCache();
    await turn(cache, [1, 2, 3]);
    expect((await cache.open('target', models, [1, 2, 3], 10, { tapLayers: [0] })).length).toBe(0);
    await turn(cache, [1, 2, 3]);
    cache.clear();
    expect(await turn(cache, [1, 2, 3])).toBe(0);
  });

  it('reads the whole prompt where a rewind would lack rows that a window sees', async () => {
    const { target } = models;
    const open: typeof target.open = async (options) => {
      const cursor = await target.open(options);
      return Object.assign(cursor, { keeps: (length: number) => length === 0 || length > cursor.length - 2 });
    };
    const windowed = { target: { ...target, open } };
    const cache = new PrefixCache();
    expect(await turn(cache, [1, 2, 3, 4, 5, 6], 30, windowed)).toBe(0);
    expect(await turn(cache, [1, 2, 3, 4, 5, 7], 30, windowed)).toBe(5);
    expect(await turn(cache, [1, 2, 9], 30, windowed)).toBe(0);
  });

  it('does not trust what a run that never ended has left', async () => {
    const cache = new PrefixCache();
    await turn(cache, [1, 2, 3]);
    const cursor = await cache.open('target', models, [1, 2, 3, 4], 10);
    await cursor.extend([8, 8]);
    expect(await turn(cache, [1, 2, 3, 4])).toBe(0);
  });

  it('remembers every member of an ensemble, and leaves to a judge what it has read, unless all is to be read anew', async () => {
    const cache = new PrefixCache();
    const disposed: string[] = [];
    const judge: Judge = {
      family: 'toy',
      gives: 'reward',
      context: 3000,
      bytes: 0,
      open: async ({ capacity = 3000 } = {}) => ({
        capacity,
        forget: () => disposed.push('its reading'),
        score: async (_problem, _steps, candidates) => candidates.map(() => 1),
        [Symbol.dispose]: () => disposed.push('judge'),
      }),
      [Symbol.dispose]() {},
    };
    const all = { ...models, 'also-1': toyModel({ vocabulary: 16, sharpness: 1 }), prm: judge };
    const known = async (prompt: readonly number[]): Promise<number> => {
      const cursor = await cache.open('also-1', all, prompt, 20);
      const { length } = cursor;
      await cursor.extend(prompt.slice(length));
      cache.keep(prompt);
      return length;
    };
    expect([await known([1, 2, 3]), await known([1, 2, 3, 4])]).toEqual([0, 3]);
    await expect(cache.open('also-2', all, [1], 20)).rejects.toThrow('no also-2 model is loaded');
    const first = await cache.open('prm', all, [1, 2, 3], 20);
    cache.keep([1, 2, 3]);
    expect(await cache.open('prm', all, [9], 20)).toBe(first);
    expect(disposed).toEqual([]);
    cache.unread();
    expect(disposed).toEqual(['its reading']);
    expect([await known([1, 2, 3, 4]), await known([1, 2, 3, 4, 5])]).toEqual([0, 4]);
    expect(await cache.open('prm', all, [9], 513)).not.toBe(first);
    expect(disposed).toEqual(['its reading', 'judge']);
  });

  it('keeps ensembles, the newest four, until the models change', async () => {
    const cache = new PrefixCache();
    const both = { ...models, draft: toyModel({ vocabulary: 16, sharpness: 1 }) };
    const join = (mu: number) => cache.join(['target', 'draft'], both, { kind: 'contrastive', mu });
    const first = await join(0.1);
    for (const mu of [0.2, 0.3, 0.1, 0.4]) await join(mu);
    expect(await join(0.1)).toBe(first);
    const oldest = await join(0.2);
    for (const mu of [0.5, 0.6, 0.7]) await join(mu);
    expect(await join(0.2)).toBe(oldest);
    expect(() => first.submit()).toThrow('disposed');
    cache.clear();
    expect(() => oldest.submit()).toThrow('disposed');
  });

  it('names a role that has no model', async () => {
    await expect(new PrefixCache().open('draft', models, [1], 10)).rejects.toThrow('no draft model is loaded');
  });
});
