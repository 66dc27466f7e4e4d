import { rmsNormReference } from '../norm/rms-norm.reference.ts';

/**
 * One head: norm (where there is one), then the rotation of pairs (i, i + headDim/2). `table`: (cos, sin) of a
 * position.
 */
export const ropeReference = (
  head: readonly number[],
  table: readonly (readonly [cos: number, sin: number])[],
  norm?: { readonly weight: readonly number[]; readonly epsilon: number },
): number[] => {
  const x = norm ? rmsNormReference(head, norm.weight, norm.epsilon) : head;
  const half = x.length / 2;
  return x.map((value, i) => {
    const [cos, sin] = table[i % half] as readonly [number, number];
    return i < half ? value * cos - (x[i + half] as number) * sin : value * cos + (x[i - half] as number) * sin;
  });
};
