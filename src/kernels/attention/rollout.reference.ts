import type { PlainCache } from '../../testing/device/cache.ts';
import type { Row } from '../cache/rows.ts';
import { scoreReference, visibleReference } from './attention.reference.ts';
import type { AttentionShape } from './attention-shape.ts';
import type { RolloutVariant } from './rollout.ts';

/** Attention of one row to every slot, averaged over the heads: `[slot]`. */
export const averageReference = (
  query: readonly (readonly number[])[],
  keys: PlainCache,
  row: Row,
  scoring: Pick<AttentionShape, 'scale' | 'softCap'>,
): number[] => {
  const slots = (keys[0] ?? []).map((_, slot) => slot);
  const heads = query.map((q, head) => {
    const cache = keys[Math.floor(head / (query.length / keys.length))] ?? [];
    const powers = slots.map((slot) => {
      if (!visibleReference(row, slot)) return 0;
      const product = q.reduce((sum, x, i) => sum + x * (cache[slot]?.[i] as number), 0);
      return Math.exp(scoreReference(product, scoring));
    });
    const total = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / total);
  });
  return slots.map((slot) => heads.reduce((sum, weights) => sum + (weights[slot] as number), 0) / heads.length);
};

/** One row of A · value, where A is a layer's averaged attention as the variant has it; `own`: the row's own slot. */
export const rolloutReference = (
  average: readonly number[],
  value: readonly number[],
  own: number,
  variant: RolloutVariant,
): number => {
  const drops = variant === 'threshold' || variant === 'renormalised';
  const kept = average.map((weight) => (drops && weight < 0.01 ? 0 : weight));
  const sum = kept.reduce((total, weight, slot) => total + weight * (value[slot] as number), 0);
  const whole = kept.reduce((total, weight) => total + weight, 0);
  if (variant === 'renormalised') return whole > 0 ? sum / whole : 0;
  return variant === 'residual' ? sum / 2 + (value[own] as number) / 2 : sum;
};
