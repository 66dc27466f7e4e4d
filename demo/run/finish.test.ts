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

test('a finish leads with the speed, then whether the tokens are the same, the passes and the times', () => {
  expect(finishOf([{ run: run([1, 2, 3, 4, 5], 2, 25), plain }], terms(true))).toEqual({
    factor: '2.00×',
    sentence: 'as fast as plain decoding here, after the first token. ✓ The same 5 tokens.',
    passes: '2 passes of the large model instead of 4.',
    facts: [
      'after the first token 50 ms against 100 ms',
      'whole answer 150 ms against 200 ms (1.33×)',
      'acceptance length 2.00 tokens a round',
    ],
  });
  expect(finishOf([{ run: plain, plain }], terms(true, true, 'ensemble')).sentence).toContain(
    'as fast as the plain ensemble',
  );
  expect(finishOf([{ run: run([1], 1, 25), plain: run([1], 1, 25) }], terms(true))).toMatchObject({
    factor: '–',
    sentence: 'Too short to time. ✓ The same 1 token.',
  });
  const approximate = finishOf([{ run: plain, plain }], terms(true, false)).sentence;
  expect(approximate).toContain('✓ The same 5 tokens this time');
  const recorded = finishOf([{ run: plain, plain }], { ...terms(true), recorded: true }).sentence;
  expect(recorded).toContain('where it was recorded');
});

test('several runs give the median factor and the range, also where it is slower', () => {
  const pairs = [50, 20, 25].map((ms) => ({ run: run([1, 2, 3, 4, 5], 1, ms), plain }));
  expect(finishOf(pairs, terms(true))).toMatchObject({
    factor: '1.00×',
    sentence: expect.stringContaining(
      'as fast as plain decoding here, after the first token (median of 3, from 0.50 to 1.25).',
    ),
  });
  expect(medianPair(pairs)).toBe(pairs[2]);
  const slower = [26.6, 26.6, 50].map((ms) => ({ run: run([1, 2, 3, 4, 5], 1, ms), plain }));
  expect(finishOf(slower, terms(true))).toMatchObject({
    factor: '0.94×',
    sentence: expect.stringContaining('(median of 3, from 0.50 to 0.94)'),
  });
});

test('of a run that fell back a loss is told, and no gain', () => {
  const at: TraceEvent = { at: 1, type: 'fall-back', round: 1, to: 'plain', speculative_ms: 2, plain_ms: 1 };
  const finish = (ms: number) => {
    const { events } = run([1, 2, 3, 4, 5], 1, ms);
    return finishOf([{ run: outcomeOf([at, ...events]), plain }], terms(true));
  };
  const why = 'Drafting did not pay here, so the run went on with plain decoding.';
  for (const ms of [15, 25]) expect(finish(ms)).toMatchObject({ factor: '–', sentence: `${why} ✓ The same 5 tokens.` });
  expect(finish(50)).toMatchObject({
    factor: '0.50×',
    sentence: `as fast as plain decoding here, after the first token. ${why} ✓ The same 5 tokens.`,
  });
});

test('the drafter’s passes are told too, and the passes of all models of an ensemble together', () => {
  const with_ = (system: string, by: 'dflash' | 'also-1'): Outcome => {
    const { events } = run([1, 2, 3, 4, 5], 2, 25);
    const draft = { at: 0, round: 1, tokens: [1, 2], parents: [-1, 0], ms: 1, by, passes: 3, type: 'draft' } as const;
    const begin = { at: 20, type: 'run', version: 1, system, knobs: {}, seed: 0, prompt: [] } as const;
    return outcomeOf([begin, draft, ...events]);
  };
  const [speculation, ensemble] = [with_('dflash', 'dflash'), with_('cos', 'also-1')];
  expect(finishOf([{ run: speculation, plain }], terms(true)).passes).toBe(
    '2 passes of the large model instead of 4, plus 3 of the drafter.',
  );
  expect(finishOf([{ run: ensemble, plain }], terms(true)).passes).toBe('5 passes of all models instead of 4.');
  // A whole answer begins with its run, after it has waited for others.
  expect(finishOf([{ run: speculation, plain }], terms(true)).facts).toContain(
    'whole answer 130 ms against 200 ms (1.54×)',
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
