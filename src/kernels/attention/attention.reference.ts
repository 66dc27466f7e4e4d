import type { PlainCache } from '../../testing/device/cache.ts';
import type { Row } from '../cache/rows.ts';
import type { AttentionShape } from './attention-shape.ts';

type Scoring = Pick<AttentionShape, 'scale' | 'softCap'>;

/** The rule of rows.ts, on one slot. */
export const visibleReference = (row: Row, slot: number): boolean => {
  const bit = slot - row.base;
  const mask = (BigInt(row.maskHigh >>> 0) << 32n) | BigInt(row.maskLow >>> 0);
  const ancestor = bit >= 0 && bit < 64 && ((mask >> BigInt(bit)) & 1n) === 1n;
  const past = slot >= row.first && slot < row.prefix;
  return row.alive === 1 && (past || (slot >= row.start && slot < row.end) || ancestor);
};

/** The score of a product: scaled, then c·tanh(score / c) where there is a soft cap. */
export const scoreReference = (product: number, { scale, softCap }: Scoring): number =>
  softCap > 0 ? softCap * Math.tanh((product * scale) / softCap) : product * scale;

/** softmax(score(q·K))·V over the visible slots, for one row of `[head][dimension]` queries. */
export const attentionReference = (
  query: readonly (readonly number[])[],
  keys: PlainCache,
  values: PlainCache,
  row: Row,
  scoring: Scoring,
): number[][] =>
  query.map((q, head) => {
    const group = Math.floor(head / (query.length / keys.length));
    const seen = (keys[group] ?? []).flatMap((k, slot) => (visibleReference(row, slot) ? [{ k, slot }] : []));
    const scores = seen.map(({ k }) =>
      scoreReference(
        q.reduce((sum, x, i) => sum + x * (k[i] as number), 0),
        scoring,
      ),
    );
    const top = Math.max(...scores);
    const weights = scores.map((score) => Math.exp(score - top));
    const total = weights.reduce((a, b) => a + b, 0);
    const value = (d: number) =>
      seen.reduce((sum, { slot }, i) => sum + (weights[i] as number) * (values[group]?.[slot]?.[d] as number), 0);
    return q.map((_, d) => (seen.length === 0 ? 0 : value(d) / total));
  });
