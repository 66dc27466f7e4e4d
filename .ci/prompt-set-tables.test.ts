import { expect, it } from 'vitest';
import { intervals } from '../src/base/statistics.ts';
import { placeRows, roundRows, type Sets, speedRows } from './prompt-set-tables.mjs';

const each = (ms: number) => ({ median: ms, min: ms, max: ms });
const row = (system: string, decode: readonly number[], speedup: number) => ({
  system,
  baseline: 'plain',
  speedup: each(speedup),
  intervals: { speedup: [speedup - 0.1, speedup + 0.1] },
  tokens_per_round: speedup,
  acceptance_by_slot: [0.5],
  prompts: decode.map((ms) => ({ decode_ms: each(ms), prefill_ms: each(100) })),
});
const report = (plain: readonly number[], quick: readonly number[], speedup: number) => ({
  systems: [row('plain', plain, 1), row('quick', quick, speedup)],
});
const sets = (reports: Record<string, unknown>) =>
  ({ reports, titles: { a: 'A', b: 'B' }, intervals }) as unknown as Sets;

it('a row a set, then both sets by the sum of their times, without and with the prompts', () => {
  const reports = { a: report([300, 300], [100, 100], 3), b: report([900, 900], [900, 900], 1) };
  expect(speedRows(sets(reports))).toEqual([
    ['A', '3.00 (2.90–3.10)'],
    ['B', '1.00 (0.90–1.10)'],
    ['**all, by the sum of their times**', '**1.20 (1.20–1.20)**'], // 2400 / 2000; equal prompts: no interval to speak of
    ['all, prompts included', '1.17 (1.17–1.17)'], // 2800 / 2400
  ]);
  expect(roundRows(sets(reports))).toEqual([
    ['A', '3.00'],
    ['B', '1.00'],
  ]);
  expect(placeRows(sets(reports), 'quick', 2)).toEqual([
    ['A', '0.50', '–'],
    ['B', '0.50', '–'],
  ]);
});

it('a system that a set lacks is named', () => {
  const reports = { a: report([1], [1], 1), b: { systems: [row('plain', [1], 1)] } };
  expect(() => speedRows(sets(reports))).toThrow('no figures of quick in a set');
});
