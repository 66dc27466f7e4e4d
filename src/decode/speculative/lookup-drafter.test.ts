import { expect, test } from 'vitest';
import { lookUp } from './lookup-drafter.ts';

test.each([
  ['the longest match wins over a later, shorter one', [1, 2, 3, 9, 5, 3, 8, 1, 2, 3], 3, { from: 3, length: 3 }],
  ['of equally long ones the latest', [7, 1, 7, 2, 7], 3, { from: 3, length: 1 }],
  ['no longer than asked for', [1, 2, 3, 9, 3, 8, 1, 2, 3], 1, { from: 5, length: 1 }],
  ['a repetition overlaps itself', [4, 4, 4], 3, { from: 2, length: 2 }],
  ['nothing comes back', [1, 2, 3], 3, null],
  ['one token has no past', [1], 3, null],
])('%s', (_, tokens, ngram, expected) => {
  expect(lookUp(tokens, ngram)).toEqual(expected);
});
