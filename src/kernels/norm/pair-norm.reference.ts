import { rmsNormReference } from './rms-norm.reference.ts';

export const pairNormReference = (
  first: readonly number[],
  firstWeight: readonly number[],
  second: readonly number[],
  secondWeight: readonly number[],
  epsilon: number,
): number[] => [...rmsNormReference(first, firstWeight, epsilon), ...rmsNormReference(second, secondWeight, epsilon)];
