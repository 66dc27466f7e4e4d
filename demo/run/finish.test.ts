import { expect, test } from 'vitest';
import type { TraceEvent } from '../../src/trace/index.ts';
import { finishOf, type Terms } from './finish.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

const verify = (round: number): TraceEvent[] => [
  { at: 0, type: 'verify', round, by: 'target', path: [0], next: 0, source: 'corrected', ms: 1 },
];

/** The first token at 100 ms, then a round of `size` tokens every `ms`. */
const run = (tokens: readonly number[], size: number, ms: number): Outcome => {
  const rounds = Array.from({ length: Math.ceil((tokens.length - 1) / size) }, (_, i) => i + 1);
  const commit = (round: number, committed: readonly number[], at: number): TraceEvent => ({
    ...{ at, type: 'commit', round, tokens: committed, source: committed.map(() => 'drafted'), text: null, ms },
    logprobs: null,
  });
  return outcomeOf([
    commit(0, tokens.slice(0, 1), 100),
    ...rounds.flatMap((round) => [
      ...verify(round),
      commit(round, tokens.slice(1 + (round - 1) * size, 1 + round * size), 100 + round * ms),
    ]),
    { at: 0, type: 'done', finish_reason: 'stop', stop: null, text: null },
  ]);
};

const terms = (greedy: boolean, exact = true, baseline = 'autoregressive'): Terms => ({ greedy, exact, baseline });
const plain = run([1, 2, 3, 4, 5], 1, 25);

test('a finish has the speed-up, whether the tokens are the same, and what each run took', () => {
  expect(finishOf(run([1, 2, 3, 4, 5], 2, 25), plain, terms(true))).toEqual({
    factor: '2.00×',
    sentence: '2.00× as fast as plain decoding (80 against 40 tokens/s); ✓ the same 5 tokens.',
    facts: ['50 ms against 100 ms', '2 target passes against 4', 'acceptance length 2.00 tokens per round'],
  });
  expect(finishOf(plain, plain, terms(true, true, 'ensemble')).sentence).toContain(
    '1.00× as fast as the plain ensemble',
  );
  expect(finishOf(run([1], 1, 25), run([1], 1, 25), terms(true)).sentence).toBe(
    'Too short to time; ✓ the same 1 tokens.',
  );
});

test('different tokens are an error for an exact system at temperature 0, and expected otherwise', () => {
  const sentence = (tokens: number[], how: Terms): string => finishOf(run(tokens, 1, 9), plain, how).sentence;
  expect(sentence([1, 9, 3, 4, 5], terms(true))).toContain('✗ different from token 2 on');
  expect(sentence([1, 2], terms(true))).toContain('✗ different from token 3 on');
  expect(sentence([1, 2, 3, 4, 5, 6], terms(true))).toContain('✗ different from token 6 on');
  expect(sentence([1, 9], terms(false))).toContain('drawn from the same distribution');
  expect(sentence([1, 9], terms(true, false))).toContain('approximate');
});
