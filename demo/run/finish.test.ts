import { expect, test } from 'vitest';
import type { TraceEvent } from '../../src/trace/index.ts';
import { finishOf, medianPair, type Terms } from './finish.ts';
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

test('a finish leads with passes, then whether the tokens are the same, and the speed', () => {
  expect(finishOf([{ run: run([1, 2, 3, 4, 5], 2, 25), plain }], terms(true))).toEqual({
    passes: '4 → 2 passes',
    sentence: '✓ The same 5 tokens; 2.00× as fast as plain decoding here.',
    facts: ['50 ms against 100 ms', '80 against 40 tokens/s', 'acceptance length 2.00 tokens a round'],
  });
  expect(finishOf([{ run: plain, plain }], terms(true, true, 'ensemble')).sentence).toContain(
    '1.00× as fast as the plain ensemble',
  );
  expect(finishOf([{ run: run([1], 1, 25), plain: run([1], 1, 25) }], terms(true)).sentence).toBe(
    '✓ The same 1 tokens; too short to time.',
  );
  const approximate = finishOf([{ run: plain, plain }], terms(true, false)).sentence;
  expect(approximate).toContain('✓ The same 5 tokens this time');
  const recorded = finishOf([{ run: plain, plain }], { ...terms(true), recorded: true }).sentence;
  expect(recorded).toContain('where it was recorded');
});

test('several runs give the median factor and the range; below .95 it is slower', () => {
  const pairs = [50, 20, 25].map((ms) => ({ run: run([1, 2, 3, 4, 5], 1, ms), plain }));
  expect(finishOf(pairs, terms(true)).sentence).toContain(
    '1.00× as fast as plain decoding here (median of 3, from 0.50 to 1.25)',
  );
  expect(medianPair(pairs)).toBe(pairs[2]);
  const slower = [26.6, 26.6, 50].map((ms) => ({ run: run([1, 2, 3, 4, 5], 1, ms), plain }));
  expect(finishOf(slower, terms(true)).sentence).toContain('6 % slower here than plain decoding (median of 3');
});

test('of a run that fell back a loss is told, and no gain', () => {
  const at: TraceEvent = { at: 1, type: 'fall-back', round: 1, to: 'plain', speculative_ms: 2, plain_ms: 1 };
  const sentence = (ms: number): string => {
    const { events } = run([1, 2, 3, 4, 5], 1, ms);
    return finishOf([{ run: outcomeOf([at, ...events]), plain }], terms(true)).sentence;
  };
  for (const ms of [15, 25])
    expect(sentence(ms)).toBe(
      '✓ The same 5 tokens; drafting did not pay here, so the run fell back to plain decoding.',
    );
  expect(sentence(50)).toBe(
    '✓ The same 5 tokens; 50 % slower here than plain decoding: drafting did not pay, so the run fell back to it.',
  );
});

test('an acceptance length is shown only where drafts were accepted', () => {
  const sampled = plain.events.map((event) =>
    event.type === 'commit' ? { ...event, source: event.tokens.map(() => 'sampled' as const) } : event,
  );
  const facts = (run: Outcome): string => finishOf([{ run, plain }], terms(true)).facts.join();
  expect(facts(plain)).toContain('acceptance length');
  expect(facts(outcomeOf(sampled))).not.toContain('acceptance length');
  const route = { at: 1, type: 'route', round: 1, step: 1, by: 'prm', to: 'draft', threshold: 0, reason: '' } as const;
  expect(facts(outcomeOf([{ ...route, score: 0 }, ...plain.events]))).not.toContain('acceptance length');
});

test('different tokens are an error for an exact system at temperature 0, and expected otherwise', () => {
  const sentence = (tokens: number[], how: Terms): string =>
    finishOf([{ run: run(tokens, 1, 9), plain }], how).sentence;
  expect(sentence([1, 9, 3, 4, 5], terms(true))).toContain('✗ Different from token 2 on');
  expect(sentence([1, 2], terms(true))).toContain('✗ Different from token 3 on');
  expect(sentence([1, 2, 3, 4, 5, 6], terms(true))).toContain('✗ Different from token 6 on');
  expect(sentence([1, 9], terms(false))).toContain('drawn from the same distribution');
  expect(sentence([1, 9], terms(true, false))).toContain('approximate');
});
