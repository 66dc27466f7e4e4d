import { rmsNormReference } from '../norm/rms-norm.reference.ts';

/** One head. */
export const gatedNormReference = (
  input: readonly number[],
  gate: readonly number[],
  weight: readonly number[],
  epsilon: number,
): number[] =>
  rmsNormReference(input, weight, epsilon).map((x, i) => {
    const g = gate[i] as number;
    return (x * g) / (1 + Math.exp(-g));
  });
