import { expect, test } from 'vitest';
import type { Cell, Row } from './plan.ts';
import { progressOf, progressText } from './progress.ts';

const row = (runsWithOthers: boolean, ...cells: readonly [Cell['state'], number][]): Row =>
  ({ runsWithOthers, cells: cells.map(([state, runs]) => ({ state, runs, fault: null })) }) as unknown as Row;

const start = progressOf([row(false, ['waiting', 0], ['waiting', 0]), row(false, ['waiting', 0])], 2);

test('runs of the baseline do not count, and a failed cell is over', () => {
  const plain = row(true, ['done', 3]);
  const rows = [plain, row(false, ['done', 2], ['failed', 1]), row(false, ['running', 1]), row(false, ['waiting', 0])];
  expect(progressOf(rows, 2)).toEqual({ made: 5, all: 8, row: 2, rows: 3 });
  expect(progressOf(rows.slice(0, 2), 2)).toEqual({ made: 4, all: 4, row: 1, rows: 1 });
});

test('the time left follows from the runs made since the start', () => {
  expect(progressText(start, start, 9)).toBe('Row 1 of 2');
  expect(progressText({ ...start, made: 2 }, start, 20)).toBe('Row 1 of 2, about 40 s left');
  expect(progressText({ ...start, made: 4 }, { ...start, made: 3 }, 61)).toBe('Row 1 of 2, about 3 min left');
  expect(progressText({ ...start, made: 6 }, start, 20)).toBe('');
});
