import { expect, test } from 'vitest';
import type { EventOf } from '../../src/trace/index.ts';
import { barsOf, memberOf, votesOf } from './votes.ts';

const commit: EventOf<'commit'> = {
  at: 0,
  type: 'commit',
  round: 1,
  tokens: [7, 8],
  source: ['drafted', 'corrected'],
  text: 'ab',
  pieces: ['a', 'b'],
  logprobs: null,
  by: ['draft', null],
  votes: [
    {
      r: 0.7,
      own: [
        { by: 'target', token: 7, text: 'a', probability: 0.9, committed: 0.9 },
        { by: 'draft', token: 9, text: 'c', probability: 0.6, committed: 0.3 },
      ],
    },
    { r: 1, own: [{ by: 'target', token: 8, text: null, probability: 1, committed: 1 }] },
  ],
  ms: 1,
};

test('every committed token has its proposer and its bars', () => {
  const [first, second] = votesOf(commit);
  if (!first || !second) throw new Error('two tokens were committed');
  expect([first.text, memberOf(first), memberOf(second)]).toEqual(['a', 1, -1]);
  expect(barsOf(first)).toEqual([
    { letter: '', member: null, committed: 0.7, instead: null },
    { letter: 'A', member: 0, committed: 0.9, instead: null },
    { letter: 'B', member: 1, committed: 0.3, instead: { text: 'c', probability: 0.6 } },
  ]);
  expect(votesOf({ ...commit, votes: undefined as never })).toEqual([]);
});
