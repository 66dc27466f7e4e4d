import { expect, test } from 'vitest';
import type { Role, TraceEvent } from '../../src/trace/index.ts';
import { describeRound } from './round-text.ts';
import { type DecodedRound, layOut, mostRows, RoundReader, rejectedLine } from './rounds.ts';

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
  for (const { text, status, row, column, up } of layOut(round))
    rows[row] =
      `${rows[row] ?? ''.padEnd(2 * column, ' ')}${up}${text}${{ rejected: '-', past: '.' }[status as 'past'] ?? '+'} `;
  return rows.map((line) => line.trimEnd());
};

test('a chain: rejected drafts are on a row below the corrected token', () => {
  const round = read(draft(['a', 'b', 'c', 'd'], [-1, 0, 1, 2]), verify([0, 1]), commit(['b', 'X'], 'corrected'));
  expect(lines(round)).toEqual(['0a+ 0b+ 0X+', '    1c- 0d-']);
  expect(layOut(round).map(({ status }) => status)).toEqual(['anchor', 'drafted', 'corrected', 'rejected', 'rejected']);
  expect(rejectedLine(round)).toEqual(['c', 'd']);
  expect(round).toMatchObject({ by: 'eagle3', ms: 7 });
});

test('a chain that was accepted whole has one row', () => {
  const round = read(draft(['a', 'b'], [-1, 0]), verify([0, 1]), commit(['b', 'X'], 'bonus'));
  expect(lines(round)).toEqual(['0a+ 0b+ 0X+']);
  expect(rejectedLine(round)).toEqual([]);
});

test('a tree: the accepted path is the first row, whatever the order of the nodes', () => {
  // a → (b → (d, e), c → f); accepted: a c f
  const round = read(
    draft(['a', 'b', 'c', 'd', 'e', 'f'], [-1, 0, 0, 1, 1, 2]),
    verify([0, 2, 5]),
    commit(['c', 'f', 'X'], 'bonus'),
  );
  expect(lines(round)).toEqual(['0a+ 0c+ 0f+ 0X+', '  1b- 0d-', '    1e-']);
  expect(rejectedLine(round)).toEqual([]);
});

test('accepted drafts after the end of the answer are not committed', () => {
  const round = read(draft(['a', 'b', 'c'], [-1, 0, 1]), verify([0, 1, 2]), commit(['b'], 'drafted'));
  expect(lines(round)).toEqual(['0a+ 0b+ 0c.']);
});

test('a plain round has no tree; without a tokenizer tokens are shown as ids', () => {
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
  expect(layOut(round)).toEqual([{ text: '7 ', status: 'sampled', row: 0, column: 0, up: 0 }]);
  expect(rejectedLine(round)).toEqual([]);
  expect(describeRound(round)).toBe('One token, without drafts · 1.0 ms');
});

test('an ensemble also verifies drafts of earlier rounds, and drops those after a rejected one', () => {
  const by = (role: Role, event: TraceEvent): TraceEvent => ({ ...event, by: role }) as TraceEvent;
  const decide = (path: number[], ...checked: Role[]): TraceEvent => ({ ...verify(path), checked }) as TraceEvent;
  const reader = new RoundReader();
  const rounds = [
    commit(['a'], 'drafted'),
    by('draft', draft(['a', 'b', 'c'], [-1, 0, 1])),
    by('target', draft(['c', 'd'], [-1, 0])),
    decide([0, 1, 2], 'draft', 'draft'),
    commit(['b', 'c'], 'drafted'),
    by('draft', draft(['d', 'e', 'f'], [-1, 0, 1])),
    decide([0, 1], 'target', 'draft'),
    commit(['d', 'X'], 'corrected'),
    by('target', draft(['X', 'y'], [-1, 0])),
    decide([0, 1], 'target'),
    commit(['y'], 'drafted'),
  ].flatMap((event) => reader.add(event) ?? []);
  expect(rounds.slice(1).map(({ pieces }) => pieces.join(''))).toEqual(['abc', 'cde', 'Xy']);
  expect(rounds.slice(1).map(describeRound)).toEqual([
    '2 drafted by the draft model, 2 accepted · 7.0 ms',
    '2 drafted (1 by the target, 1 by the draft model), 1 accepted, then one corrected token · 7.0 ms',
    '1 drafted by the target, 1 accepted · 7.0 ms',
  ]);
  expect(lines(rounds[2] as DecodedRound)).toEqual(['0c+ 0d+ 0X+', '    1e-']);
});

test('rounds of a step router name their step, accepted or written by a nested system', () => {
  const route = (step: number, to: Role): TraceEvent =>
    ({ at: 1, type: 'route', step, by: 'prm', to, score: 0, threshold: 0, reason: '' }) satisfies TraceEvent;
  const step = (number: number, by: Role): TraceEvent => ({ at: 1, type: 'step', step: number, by, tokens: 2, ms: 1 });
  const inside = (event: TraceEvent): TraceEvent => ({ ...event, step: 2 }) as TraceEvent;
  const routed = (...pieces: string[]): TraceEvent =>
    ({ ...commit(pieces, 'drafted'), source: pieces.map(() => 'routed') }) as TraceEvent;
  const reader = new RoundReader();
  const rounds = [
    route(1, 'draft'),
    step(1, 'draft'),
    commit(['a', 'b'], 'drafted'),
    route(2, 'target'),
    inside(draft(['b', 'c', 'd'], [-1, 0, 1])),
    inside(verify([0, 1])),
    routed('c', 'X'),
    step(2, 'target'),
    routed('Y'),
    commit(['z'], 'drafted'),
    inside(draft(['z', 'q'], [-1, 0])), // both write, and the draft's step is accepted
    inside(verify([0, 1])),
    route(3, 'draft'),
    step(3, 'draft'),
    commit(['q', 'r'], 'drafted'),
  ].flatMap((event) => reader.add(event) ?? []);
  expect(rounds.map((round) => describeRound(round).replace(/ · .*/, ''))).toEqual([
    'Step 1: 2 tokens by the draft model, accepted',
    'Step 2: 2 drafted by EAGLE-3, 1 accepted, then one token by the target',
    'Step 2: one token by the target',
    'One token, without drafts',
    'Step 3: 2 tokens by the draft model, accepted',
  ]);
  expect(layOut(rounds[0] as DecodedRound).map(({ status, column }) => [status, column])).toEqual([
    ['drafted', 0],
    ['drafted', 1],
  ]);
});

test('the tallest tree of a run with more cells than a call takes arguments', () => {
  const chain = read(draft(['a', 'b', 'c'], [-1, 0, 1]), verify([0, 1]), commit(['b', 'X'], 'corrected'));
  const tree = read(draft(['a', 'b', 'c', 'd'], [-1, 0, 0, 0]), verify([0, 1]), commit(['b', 'X'], 'corrected'));
  expect(mostRows([...Array.from({ length: 100_000 }, () => chain), tree])).toBe(3);
  expect(mostRows([])).toBe(0);
});
