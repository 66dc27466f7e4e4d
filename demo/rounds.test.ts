import { expect, test } from 'vitest';
import type { TraceEvent } from '../src/trace.ts';
import { type DecodedRound, layOut, RoundReader, rejectedLine } from './rounds.ts';

const draft = (pieces: string[], parents: number[]): TraceEvent => {
  const tokens = pieces.map((_, i) => i);
  return { at: 1, type: 'draft', round: 1, by: 'eagle3', tokens, parents, pieces, passes: 1, ms: 1 };
};

const verify = (path: number[]): TraceEvent => {
  return { at: 2, type: 'verify', round: 1, by: 'target', path, next: 9, source: 'corrected', ms: 1 };
};

const commit = (pieces: string[], last: 'corrected' | 'bonus' | 'drafted'): TraceEvent => {
  const source = pieces.map((_, i) => (i < pieces.length - 1 ? 'drafted' : last));
  const tokens = pieces.map((_, i) => i);
  return { at: 3, type: 'commit', round: 1, tokens, source, text: pieces.join(''), pieces, logprobs: null, ms: 7 };
};

const read = (...events: TraceEvent[]): DecodedRound => {
  const reader = new RoundReader();
  const rounds = events.map((event) => reader.add(event)).filter((round) => round !== null);
  expect(rounds).toHaveLength(1);
  return rounds[0] as DecodedRound;
};

const lines = (round: DecodedRound): string[] => {
  const rows: string[] = [];
  for (const { text, fate, row, column, up } of layOut(round))
    rows[row] =
      `${rows[row] ?? ''.padEnd(2 * column, ' ')}${up}${text}${{ rejected: '-', past: '.' }[fate as 'past'] ?? '+'} `;
  return rows.map((line) => line.trimEnd());
};

test('a chain: the rejected rest hangs below the correction', () => {
  const round = read(draft(['a', 'b', 'c', 'd'], [-1, 0, 1, 2]), verify([0, 1]), commit(['b', 'X'], 'corrected'));
  expect(lines(round)).toEqual(['0a+ 0b+ 0X+', '    1c- 0d-']);
  expect(layOut(round).map(({ fate }) => fate)).toEqual(['anchor', 'drafted', 'corrected', 'rejected', 'rejected']);
  expect(rejectedLine(round)).toEqual(['c', 'd']);
  expect(round).toMatchObject({ by: 'eagle3', ms: 7 });
});

test('a chain that was kept whole has one line, and nothing was rejected', () => {
  const round = read(draft(['a', 'b'], [-1, 0]), verify([0, 1]), commit(['b', 'X'], 'bonus'));
  expect(lines(round)).toEqual(['0a+ 0b+ 0X+']);
  expect(rejectedLine(round)).toEqual([]);
});

test('a tree: the kept path is the first line, whatever the order of the nodes', () => {
  // a → (b → (d, e), c → f); kept: a c f
  const round = read(
    draft(['a', 'b', 'c', 'd', 'e', 'f'], [-1, 0, 0, 1, 1, 2]),
    verify([0, 2, 5]),
    commit(['c', 'f', 'X'], 'bonus'),
  );
  expect(lines(round)).toEqual(['0a+ 0c+ 0f+ 0X+', '  1b- 0d-', '    1e-']);
  expect(rejectedLine(round)).toEqual([]);
});

test('what was kept behind the end of the answer was not committed', () => {
  const round = read(draft(['a', 'b', 'c'], [-1, 0, 1]), verify([0, 1, 2]), commit(['b'], 'drafted'));
  expect(lines(round)).toEqual(['0a+ 0b+ 0c.']);
});

test('a plain round has no tree, and tokens without a tokenizer are ids', () => {
  const plain: TraceEvent = {
    at: 3,
    type: 'commit',
    round: 1,
    tokens: [7],
    source: ['sampled'],
    text: null,
    logprobs: null,
    ms: 1,
  };
  const round = read(verify([0]), plain);
  expect(round).toMatchObject({ by: null, committed: [{ text: '7 ', source: 'sampled' }] });
  expect(layOut(round)).toEqual([]);
  expect(rejectedLine(round)).toEqual([]);
});
