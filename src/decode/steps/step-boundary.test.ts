import { describe, expect, it } from 'vitest';
import { checkDelimiter, StepBoundary, splitIntoSteps } from './step-boundary.ts';

const TEXTS = ['a', '\n', '\n\n', '.\n\n', 'b\n', 'c', '\n\n\nd', '</s>'] as const;
const tokenText = (token: number): string => TEXTS[token] ?? '?';
const stopTokens = new Set([7]);

describe('a blank line of the text', () => {
  const boundary = new StepBoundary({ tokenText, stopTokens }, -1);

  it.each([
    ['a token of its own', [0, 2, 0], 2],
    ['the end of a longer token', [0, 3, 0], 2],
    ['the inside of a token', [0, 6, 0], 2],
    ['two tokens', [0, 1, 1, 0], 3],
    ['the ends of two tokens', [0, 4, 1, 0], 3],
    ['nothing but itself', [2, 0], 1],
  ])('ends a step: %s', (_, tokens, length) => {
    expect(boundary.firstStep(tokens, 100)).toEqual({ length, ends: 'delimiter' });
  });

  it('is not two lines', () => {
    expect(boundary.firstStep([0, 1, 0, 4, 5, 1], 100)).toBeNull();
  });

  it('is found across the border of what was looked at before', () => {
    expect(boundary.firstStep([0, 1, 1, 0], 100, 2)).toEqual({ length: 3, ends: 'delimiter' });
  });
});

describe('a token as delimiter', () => {
  const boundary = new StepBoundary({ tokenText: null, stopTokens }, 5);

  it('ends a step, and so do a stop token and the limit', () => {
    expect(boundary.firstStep([0, 2, 5, 0], 100)).toEqual({ length: 3, ends: 'delimiter' });
    expect(boundary.firstStep([0, 7, 5, 0], 100)).toEqual({ length: 2, ends: 'stop' });
    expect(boundary.firstStep([0, 1, 5, 0], 2)).toEqual({ length: 2, ends: 'length' });
    expect(boundary.firstStep([0, 5], 2)).toEqual({ length: 2, ends: 'delimiter' });
    expect(boundary.firstStep([0, 1], 3)).toBeNull();
    expect(boundary.firstStep([], 3)).toBeNull();
  });

  it('cuts an answer into its steps, an unfinished one too', () => {
    expect(splitIntoSteps(boundary, [0, 5, 1, 1, 5, 2], 100)).toEqual([[0, 5], [1, 1, 5], [2]]);
    expect(splitIntoSteps(boundary, [0, 0, 0, 5], 2)).toEqual([
      [0, 0],
      [0, 5],
    ]);
  });
});

it('cannot see a blank line without a tokenizer', () => {
  expect(() => checkDelimiter({ knobs: { delimiter: -1 }, hasText: false })).toThrow(/no tokenizer/);
});
