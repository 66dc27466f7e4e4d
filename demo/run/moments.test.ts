import { expect, test } from 'vitest';
import type { TraceEvent } from '../../src/trace/index.ts';
import { explainToken, momentsOf, rowsOf } from './moments.ts';

const logprob = (token: number, text: string, probability: number, others: readonly [number, string, number][]) => ({
  token,
  text,
  logprob: Math.log(probability),
  top: [[token, text, probability] as const, ...others].map(([token, text, p]) => ({
    token,
    text,
    logprob: Math.log(p),
  })),
});

/** The anchor “a” has children “b” (before “d”) and “c”. “b” is accepted, and the target's own token follows it. */
const ROUND: readonly TraceEvent[] = [
  {
    ...{ at: 1, type: 'draft', round: 1, by: 'eagle3', tokens: [1, 2, 3, 4], parents: [-1, 0, 0, 1] },
    ...{ pieces: ['a', 'b', 'c', 'd'], passes: 1, ms: 1 },
  },
  {
    ...{ at: 2, type: 'verify', round: 1, by: 'target', path: [0, 1], next: 9, source: 'corrected', ms: 1 },
    probabilities: [
      { target: 0.9, draft: 0.5 },
      { target: 0.05, draft: 0.25 },
      { target: 0.01, draft: null },
    ],
  },
  {
    ...{ at: 3, type: 'commit', round: 1, tokens: [2, 9], source: ['drafted', 'corrected'], text: 'bx', ms: 7 },
    ...{
      pieces: ['b', 'x'],
      logprobs: [
        logprob(2, 'b', 0.9, []),
        logprob(9, 'x', 0.6, [
          [4, 'd', 0.0001],
          [5, 'y', 0.3],
        ]),
      ],
    },
  },
  { at: 3, type: 'kernels', round: 1, dispatches: 5, submits: 1, readbacks: 1, spans: [] },
];

test('a moment has the data of its round and the position of its tokens', () => {
  const [first, second] = momentsOf([...ROUND, ...ROUND]);
  expect([first?.before, second?.before]).toEqual([0, 2]);
  expect(first?.work?.dispatches).toBe(5);
  expect(second?.at).toBe(3);
});

test('rows of a tree have the status of each token and its probabilities', () => {
  const [moment] = momentsOf(ROUND);
  if (!moment) throw new Error('there is a round');
  expect(rowsOf(moment).map(({ text, status, place, draft, target }) => [text, status, place, draft, target])).toEqual([
    ['b', 'drafted', 1, 0.5, 0.9],
    ['c', 'rejected', 1, 0.25, 0.05],
    ['d', 'rejected', 2, null, 0.01],
    ['x', 'corrected', 2, null, expect.closeTo(0.6)],
  ]);
  expect(rowsOf(moment).at(-1)?.alternatives).toEqual([
    { text: 'y', probability: expect.closeTo(0.3) },
    { text: 'd', probability: expect.closeTo(0.0001) },
  ]);
});

test('a run without probabilities has rows without them', () => {
  const bare = ROUND.map((event) =>
    event.type === 'commit'
      ? { ...event, logprobs: null }
      : event.type === 'verify'
        ? {
            at: event.at,
            type: event.type,
            round: 1,
            by: event.by,
            path: event.path,
            next: 9,
            source: event.source,
            ms: 1,
          }
        : event,
  );
  const [moment] = momentsOf(bare);
  if (!moment) throw new Error('there is a round');
  expect(rowsOf(moment).map(({ draft, target }) => [draft, target])).toEqual(Array(4).fill([null, null]));
});

test('an accepted step has the probabilities of the draft that wrote it', () => {
  const [moment] = momentsOf([
    { at: 1, type: 'step', step: 1, by: 'draft', tokens: 1, ms: 1 },
    {
      ...{ at: 2, type: 'commit', round: 1, tokens: [2], source: ['drafted'], text: 'b', pieces: ['b'], ms: 7 },
      logprobs: [logprob(2, 'b', 0.75, [])],
    },
  ]);
  if (!moment) throw new Error('there is a round');
  expect(rowsOf(moment)).toMatchObject([{ text: 'b', target: null, draft: expect.closeTo(0.75) }]);
});

test('a token is explained by its place, and a corrected one with the draft that it replaces', () => {
  const moments = momentsOf([...ROUND, ...ROUND]);
  expect(explainToken(moments, 0)).toMatchObject({ row: { text: 'b', draft: 0.5, target: 0.9 }, instead: null });
  for (const place of [1, 3])
    expect(explainToken(moments, place)).toMatchObject({ row: { text: 'x' }, instead: { text: 'd', target: 0.01 } });
  expect(explainToken(moments, 4)).toBeNull();
});
