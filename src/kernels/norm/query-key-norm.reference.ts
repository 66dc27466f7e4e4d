import { rmsNormReference } from './rms-norm.reference.ts';

/** One row of queries, keys and values. */
export const queryKeyNormReference = (
  row: readonly number[],
  queryNorm: readonly number[],
  keyNorm: readonly number[],
  epsilon: number,
): number[] => {
  const keys = queryNorm.length;
  const values = keys + keyNorm.length;
  return [
    ...rmsNormReference(row.slice(0, keys), queryNorm, epsilon),
    ...rmsNormReference(row.slice(keys, values), keyNorm, epsilon),
    ...row.slice(values),
  ];
};
