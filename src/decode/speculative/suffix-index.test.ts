import { expect, test } from 'vitest';
import { SuffixIndex } from './suffix-index.ts';

const indexOf = (...texts: readonly (readonly number[])[]): SuffixIndex => {
  const index = new SuffixIndex();
  for (const text of texts) index.follow(text);
  return index;
};

const ALL = { nodes: 99, depth: 4 };

test('the longest match decides, and its continuation is proposed', () => {
  const index = indexOf([1, 2, 3, 9, 5, 3, 8, 1, 2, 3]);
  const match = index.match(8);
  expect(match).toMatchObject({ length: 3, places: [3] });
  expect(index.grow(match as NonNullable<typeof match>, { nodes: 2, depth: 9 })).toEqual({
    tokens: [3, 9, 5],
    parents: [-1, 0, 1],
    shares: [1, 1, 1],
  });
});

test('continuations are a tree, the most frequent first', () => {
  const index = indexOf([7, 1, 5], [7, 1, 6], [7, 1, 5], [7, 1, 5, 4], [7, 1]);
  const match = index.match(8);
  expect(match).toMatchObject({ length: 2 });
  expect(index.grow(match as NonNullable<typeof match>, ALL)).toEqual({
    tokens: [1, 5, 6, 4],
    parents: [-1, 0, 0, 1],
    shares: [1, 2 / 3, 1 / 3, 1 / 2],
  });
});

test('a match ends where its text ends, and never reaches into another one', () => {
  expect(indexOf([4, 1], [2, 3]).match(8)).toBeNull();
  const index = indexOf([1, 2, 3], [9, 2, 3]);
  expect(index.match(8)).toBeNull(); // nothing followed 2 3
  expect(indexOf([8, 2, 3, 5], [9, 2, 3]).match(8)).toMatchObject({ length: 2 });
});

test('a conversation is followed, and counted once', () => {
  const index = indexOf([1, 2, 3], [1, 2, 3, 4, 5]);
  expect(index.size).toBe(5);
  index.append([1, 2]);
  expect(index.match(8)).toMatchObject({ length: 2, places: [2] });
});

test('a document is looked up, remembered once, and never followed', () => {
  const index = new SuffixIndex();
  index.hold([1, 2, 3, 4]);
  index.hold([1, 2, 3, 4]);
  expect(index.size).toBe(5);
  index.follow([9, 2, 3]);
  expect(index.match(8)).toMatchObject({ length: 2, places: [3] });
  index.hold([]);
  index.follow([9, 2, 3, 4, 7]);
  expect(index.size).toBe(10);
  expect(indexOf([1, 2], [1, 2, 3]).size).toBe(3);
});

test('a repetition overlaps itself', () => {
  const index = indexOf([4, 6, 4, 6]);
  const match = index.match(8);
  expect(index.grow(match as NonNullable<typeof match>, { nodes: 5, depth: 5 }).tokens).toEqual([6, 4, 6, 4, 6, 4]);
});

test('what is found is what a search from scratch finds', () => {
  let state = 7;
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let round = 0; round < 50; round++) {
    const text = Array.from({ length: 40 }, () => random(3));
    let longest = 0;
    for (let place = 1; place < text.length; place++) {
      let length = 0;
      while (length < 6 && length < place && text[place - 1 - length] === text[text.length - 1 - length]) length++;
      longest = Math.max(longest, length);
    }
    expect(indexOf(text).match(6)?.length ?? 0).toBe(longest);
  }
});

test('memory is bounded', () => {
  const index = new SuffixIndex();
  for (let i = 0; i < 40; i++) index.follow(Array.from({ length: 10_000 }, (_, j) => (i * 31 + j * 7) % 1000));
  expect(index.size).toBeLessThanOrEqual(1 << 18);
  expect(index.match(8)).not.toBeNull();
});
