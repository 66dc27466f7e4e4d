// An answer that is written again after a lost device: rounds need not end where they ended before.
import { expect, test } from 'vitest';
import type { DecodingSystem } from '../decode/core/system.ts';
import { committedTokens } from '../trace/index.ts';
import { Answer } from './answer.ts';
import type { Job } from './job.ts';

const job = {
  system: { guarantee: 'approximate', group: 'step-level' } as DecodingSystem,
  ...{
    tokenizer: null,
    logprobs: null,
    constraint: null,
    reasoning: null,
    marks: new Map(),
    prompt: [9, 9],
    sampling: { temperature: 1 },
  },
  limits: { maxTokens: 20, stopTokens: new Set<number>(), stopStrings: [] },
} as unknown as Job;
const round = (...tokens: number[]) => ({ tokens, source: tokens.map(() => 'sampled' as const), scores: null });

/** An answer of five tokens in two rounds, whose device is then lost. */
const lost = (): Answer => {
  const answer = new Answer(job, () => 0);
  answer.begin(job);
  answer.started();
  expect([round(1, 2), round(3, 4, 5)].map((each) => answer.take(each, 0))).toEqual([true, true]);
  expect(committedTokens(answer.told())).toEqual([1, 2, 3, 4, 5]);
  answer.interrupted();
  return answer;
};

test('a round that reaches beyond what was written before commits the rest of it', () => {
  const answer = lost();
  const { tokens } = answer.begin(job);
  answer.started();
  expect([round(1), round(2, 3, 4), round(5, 6, 7), round(8)].map((each) => answer.take(each, 0))).toEqual([
    ...[false, false, true, true],
  ]);
  expect(committedTokens(answer.told())).toEqual([6, 7, 8]);
  expect(tokens).toEqual([9, 9, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test('a step that ends beyond what was written before is told, and none is told twice', () => {
  const answer = new Answer(job, () => 0);
  const step = (number: number, ...ids: number[]) =>
    ({ type: 'step', step: number, by: 'target', tokens: ids.length, ids, ends: 'delimiter', ms: 0 }) as const;
  /** What each round tells: its steps, then its tokens. */
  const write = (...rounds: readonly (readonly [ReturnType<typeof step>[], readonly number[]])[]) => {
    const { emit } = answer.begin(job);
    answer.started();
    const told = rounds.flatMap(([steps, tokens]) => {
      for (const each of steps) emit(each);
      answer.take(round(...tokens), 0);
      return answer.told();
    });
    return told.map((event) => (event.type === 'step' ? event.ids : event.type === 'commit' && event.tokens));
  };
  expect(write([[step(1, 1, 2)], [1, 2, 3]], [[], [4]])).toEqual([[1, 2], [1, 2, 3], [4]]);
  answer.interrupted();
  // On the next device rounds are longer.
  const again = write([[step(1, 1, 2)], [1, 2]], [[step(2, 3, 4, 5)], [3, 4, 5]], [[step(3, 6)], [6]]);
  expect(again).toEqual([[3, 4, 5], [5], [6], [6]]);
});

test('other tokens than before end the run', () => {
  const answer = lost();
  answer.begin(job);
  answer.started();
  expect(answer.take(round(1, 2, 3), 0)).toBe(false);
  expect(() => answer.take(round(4, 6, 7), 0)).toThrow('the answer begins differently');
});
