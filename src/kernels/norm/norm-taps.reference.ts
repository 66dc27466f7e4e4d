import { rmsNormReference } from './rms-norm.reference.ts';

/** `taps[i]` of one row; `weights[i]` is the weight of tap `first + i`. */
export const normTapsReference = (
  taps: readonly (readonly number[])[],
  weights: readonly (readonly number[])[],
  first: number,
  epsilon: number,
): number[] =>
  taps.flatMap((tap, i) => {
    const weight = weights[i - first];
    return weight ? rmsNormReference(tap, weight, epsilon) : [...tap];
  });
