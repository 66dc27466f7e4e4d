// The two charts of the benchmark page: the time of a pass over M rows, and accuracy against cost for problems with
// known answers.
import type { DeviceCard } from '../../../src/index.ts';
import type { ChartSpec } from '../../shared/chart.ts';
import type { ResultRow } from './result-row.ts';

export const passChart = ({ model, relative }: NonNullable<DeviceCard['passes']>): ChartSpec => {
  const rows = Object.entries(relative).map(([x, y]) => ({ x: Number(x), y }));
  return {
    title: `Time of a pass of ${model} over M rows, in passes over one row`,
    x: { title: 'rows in a pass, M', min: 0, max: 17, whole: true },
    y: { title: 'T(M) / T(1)', min: 0 },
    series: [
      { label: 'measured here', points: rows, colour: 'drafted', kind: 'both' },
      {
        label: 'M passes over one row',
        points: rows.map(({ x }) => ({ x, y: x })),
        colour: 'muted',
        kind: 'line',
        dashed: true,
      },
    ],
  };
};

/** Time comes first: by target tokens, all exact systems are one point. */
export const COSTS = {
  time: { title: 'milliseconds per answer', of: (row: ResultRow) => row.answer_ms?.median ?? null },
  target: {
    title: 'target tokens per answer',
    of: (row: ResultRow) => row.target_tokens / Math.max(1, row.runs),
  },
} as const;

export type Cost = keyof typeof COSTS;

const SIGNS = ['circle', 'triangle', 'rect', 'rectRot', 'star', 'cross'] as const;
const COLOURS = ['sampled', 'drafted', 'corrected', 'bonus', 'routed'] as const;

/**
 * Null if no prompt has a known answer, or if all systems are exact: their answers are the same, and the chart would be
 * one row of points.
 */
export const costChart = (rows: readonly ResultRow[], cost: Cost): ChartSpec | null => {
  const { title, of } = COSTS[cost];
  const judged = rows.filter(({ accuracy, guarantee }) => accuracy !== null && guarantee !== 'peer');
  if (judged.every(({ guarantee }) => guarantee === 'exact')) return null;
  const most = Math.max(...judged.map((row) => of(row) ?? 0));
  return {
    title: `Accuracy against ${title}`,
    x: { title, min: 0, max: Math.ceil(most * 1.1 + 1) },
    y: { title: 'correct answers, %', min: 0, max: 100 },
    series: judged.map((row, i) => ({
      label: row.title,
      points: [{ x: of(row) ?? 0, y: 100 * (row.accuracy ?? 0), name: row.title }],
      colour: COLOURS[i % COLOURS.length] ?? 'drafted',
      signs: [SIGNS[i % SIGNS.length] ?? 'circle'],
      kind: 'points',
      sizes: [7],
    })),
  };
};
