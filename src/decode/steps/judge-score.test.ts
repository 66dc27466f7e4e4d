import { expect, it } from 'vitest';
import { OutriderError } from '../../base/errors.ts';
import { refuse } from '../../base/refuse.ts';
import type { JudgeCursor } from '../core/system.ts';
import { scoresOf } from './judge-score.ts';

const judge = (score: JudgeCursor['score']): JudgeCursor => ({
  capacity: 8,
  forget() {},
  score,
  [Symbol.dispose]() {},
});
const text = { problem: [1, 2], steps: [{ tokens: [3, 4, 5], by: 'draft' }] } as const;
const { signal } = new AbortController();

it.each([
  [[6, 7, 8], [0.5]],
  [[6, 7, 8, 9], null],
])('asks about a step of the text that the judge can read: %j', async (candidate, scores) => {
  expect(
    await scoresOf(
      judge(async () => [0.5]),
      text,
      [candidate],
      signal,
    ),
  ).toEqual(scores);
});

it('has no score where the text is too long in the layout of the judge', async () => {
  const overflow = { requested: 9, context: 8 };
  const long = judge(async () => {
    throw new OutriderError('bad-request', 'too long', '', { overflow });
  });
  expect(await scoresOf(long, text, [[6]], signal)).toBeNull();
});

it('passes on every other failure', async () => {
  const failed = refuse('a foreign token');
  const failing = judge(async () => {
    throw failed;
  });
  await expect(scoresOf(failing, text, [[6]], signal)).rejects.toBe(failed);
});
