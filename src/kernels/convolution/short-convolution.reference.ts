/**
 * The last row of a path of inputs: bias[channel] + Σ weight[channel][tap] · x[row − (taps − 1 − tap)][channel], rows
 * before the first being zero.
 */
export const convolutionReference = (
  path: readonly (readonly number[])[],
  weight: readonly (readonly number[])[],
  bias: readonly number[] = [],
): number[] =>
  weight.map((taps, channel) =>
    taps.reduce((sum, w, tap) => sum + w * (path[path.length - taps.length + tap]?.[channel] ?? 0), bias[channel] ?? 0),
  );

/** A row is B, C and u side by side. */
export const gatedConvolutionReference = (
  path: readonly (readonly number[])[],
  weight: readonly (readonly number[])[],
  bias: readonly number[] = [],
): number[] => {
  const n = weight.length;
  const inputs = path.map((row) =>
    Array.from({ length: n }, (_, i) => (row[i] as number) * (row[2 * n + i] as number)),
  );
  return convolutionReference(inputs, weight, bias).map((y, i) => y * (path.at(-1)?.[n + i] as number));
};
