import { expect, it } from 'vitest';
import { random } from '../testing/fuzz/random.ts';
import { intervals, type Statistic, shareOfDraws, shuffled } from './statistics.ts';

const mean =
  (values: readonly number[]): Statistic =>
  (drawn) =>
    Array.from(drawn, (i) => values[i] as number).reduce((a, b) => a + b, 0) / drawn.length;

it('gives the same interval each time, around the value, and none for a single unit', () => {
  const values = [1, 0, 1, 1, 0, 1, 1, 1];
  const { share } = intervals(8, { share: mean(values) });
  expect(intervals(8, { share: mean(values) }).share).toEqual(share);
  expect(share?.[0]).toBeLessThan(0.75);
  expect(share?.[1]).toBeGreaterThan(0.75);
  expect(intervals(1, { share: mean(values) }).share).toBeNull();
  expect(intervals(8, { none: () => null }).none).toBeNull();
});

it('is that of the normal distribution for the mean of many units', () => {
  const values = Array.from({ length: 400 }, (_, i) => (i % 10 < 3 ? 1 : 0));
  const { share } = intervals(400, { share: mean(values) });
  const half = 1.96 * Math.sqrt((0.3 * 0.7) / 400);
  expect(Math.abs((share?.[0] ?? 0) - (0.3 - half))).toBeLessThan(0.006);
  expect(Math.abs((share?.[1] ?? 0) - (0.3 + half))).toBeLessThan(0.006);
});

it('holds the truth in about 95 of 100 samples', () => {
  const next = random(7);
  let held = 0;
  for (let sample = 0; sample < 200; sample++) {
    const values = Array.from({ length: 60 }, () => (next(10) < 6 ? 1 : 0));
    const [low, high] = intervals(60, { share: mean(values) }, sample).share ?? [1, 0];
    if (low <= 0.6 && 0.6 <= high) held++;
  }
  expect(held).toBeGreaterThan(180);
  expect(held).toBeLessThan(200);
});

it('draws the same units for every figure, so a ratio of equal figures is exactly one', () => {
  const one = mean([1, 2, 3, 9]);
  const { ratio, value } = intervals(4, { ratio: (drawn) => (one(drawn) ?? 0) / (one(drawn) ?? 1), value: one });
  expect(ratio).toEqual([1, 1]);
  expect(value?.[0]).toBeLessThan(value?.[1] ?? 0);
});

it('says in which share of the draws a figure is reached, as the ends of its interval do', () => {
  const values = Array.from({ length: 400 }, (_, i) => (i % 10 < 3 ? 1 : 0));
  const { share } = intervals(400, { share: mean(values) });
  expect(shareOfDraws(400, mean(values), share?.[0] ?? 0)).toBeCloseTo(0.975, 1);
  expect(shareOfDraws(400, mean(values), share?.[1] ?? 0)).toBeLessThan(0.06);
  expect(shareOfDraws(400, mean(values), 0)).toBe(1);
  expect(shareOfDraws(400, () => null, 0)).toBe(0);
  expect(shareOfDraws(1, mean(values), 0)).toBeNull();
});

it('draws an order: each unit once, the same for a seed, and each of the six orders of three about equally often', () => {
  expect(shuffled(3, 7)).toEqual(shuffled(3, 7));
  const counts = new Map<string, number>();
  for (let seed = 0; seed < 600; seed++) {
    const order = shuffled(3, seed).join('');
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  expect([...counts.keys()].sort()).toEqual(['012', '021', '102', '120', '201', '210']);
  expect(Math.min(...counts.values())).toBeGreaterThan(60);
});
