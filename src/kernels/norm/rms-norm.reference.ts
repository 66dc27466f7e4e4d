/** y = x / sqrt(mean(x²) + epsilon) · weight, for one row. */
export const rmsNormReference = (input: readonly number[], weight: readonly number[], epsilon: number): number[] => {
  const mean = input.reduce((sum, x) => sum + x * x, 0) / input.length;
  return input.map((x, i) => (x / Math.sqrt(mean + epsilon)) * (weight[i] as number));
};
