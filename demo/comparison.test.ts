import { expect, test } from 'vitest';
import { compare, type Rival } from './comparison.ts';
import type { Outcome } from './run-view.ts';

const outcome = (tokens: number[], rate: number | null): Outcome => ({
  system: 'x',
  tokens,
  rate,
  complete: true,
  events: [],
});
const rival = (greedy: boolean, exact = true, baseline = 'autoregressive'): Rival => ({
  key: '',
  greedy,
  exact,
  baseline,
  plain: async function* () {},
});
const plain = outcome([1, 2, 3], 40);

test('a comparison says how fast, and whether the tokens are the same', () => {
  expect(compare(outcome([1, 2, 3], 84), plain, rival(true))).toEqual({
    factor: '2.10×',
    sentence: '2.10× as fast as plain decoding (84 against 40 tokens/s); ✓ the same 3 tokens.',
  });
  expect(compare(outcome([1, 2, 3], 84), plain, rival(true, true, 'ensemble')).sentence).toContain(
    '2.10× as fast as the plain ensemble',
  );
  expect(compare(outcome([1, 2, 3], null), plain, rival(true)).sentence).toBe(
    'Too short to time; ✓ the same 3 tokens.',
  );
});

test('different tokens are a fault, a draw, or what an approximate system is for', () => {
  const sentence = (tokens: number[], how: Rival): string => compare(outcome(tokens, 8), plain, how).sentence;
  expect(sentence([1, 9, 3], rival(true))).toContain('✗ other tokens from the 2. on');
  expect(sentence([1, 2], rival(true))).toContain('✗ other tokens from the 3. on');
  expect(sentence([1, 2, 3, 4], rival(true))).toContain('✗ other tokens from the 4. on');
  expect(sentence([1, 9], rival(false))).toContain('drawn from the same distribution');
  expect(sentence([1, 9], rival(true, false))).toContain('approximate');
});
