import type { LIMIT_RULES } from './draft-limit.ts';

export interface LimitReference {
  readonly rule: (typeof LIMIT_RULES)[number];
  readonly threshold: number;
  readonly divisors: readonly number[];
  readonly costs: readonly number[];
}

/** The drafts that are kept, given the logits of their confidences. */
export const draftLimitReference = (
  logits: readonly number[],
  { rule, threshold, divisors, costs }: LimitReference,
): number => {
  const own = logits.map((z, i) => 1 / (1 + Math.exp(-z / (divisors[i] as number))));
  const survival = own.map((_, n) => own.slice(0, n + 1).reduce((a, b) => a * b));
  const rates = [1, ...survival].map((_, n, all) => all.slice(0, n + 1).reduce((a, b) => a + b) / (costs[n] as number));
  const stops = own.findIndex((sure, n) => {
    if (rule === 'schedule') return (rates[n + 1] as number) <= (rates[n] as number);
    return (rule === 'each' ? sure : (survival[n] as number)) < threshold;
  });
  return stops < 0 ? logits.length : stops;
};
