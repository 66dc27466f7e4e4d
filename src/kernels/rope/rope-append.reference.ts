import { rmsNormReference } from '../norm/rms-norm.reference.ts';

/**
 * One head: norm (where there is one), then the rotation of pairs (i, i + pairs), for which `table` has the (cos, sin)
 * of a position. Dimensions after the pairs stay. A norm may also come last (`after`).
 */
export const ropeReference = (
  head: readonly number[],
  table: readonly (readonly [cos: number, sin: number])[],
  norm?: { readonly weight: readonly number[]; readonly epsilon: number; readonly after?: boolean },
): number[] => {
  const normed = (y: readonly number[]): number[] => (norm ? rmsNormReference(y, norm.weight, norm.epsilon) : [...y]);
  const x = norm?.after ? head : normed(head);
  const half = table.length;
  const turned = x.map((value, i) => {
    if (i >= 2 * half) return value;
    const [cos, sin] = table[i % half] as readonly [number, number];
    return i < half ? value * cos - (x[i + half] as number) * sin : value * cos + (x[i - half] as number) * sin;
  });
  return norm?.after ? normed(turned) : turned;
};
