/** y = (x − mean) / sqrt(variance + epsilon) · weight + bias, for one row. */
export const layerNormReference = (
  input: readonly number[],
  weight: readonly number[],
  bias: readonly number[] | null,
  epsilon: number,
): number[] => {
  const mean = input.reduce((sum, x) => sum + x, 0) / input.length;
  const variance = input.reduce((sum, x) => sum + (x - mean) ** 2, 0) / input.length;
  return input.map((x, i) => ((x - mean) / Math.sqrt(variance + epsilon)) * (weight[i] as number) + (bias?.[i] ?? 0));
};
