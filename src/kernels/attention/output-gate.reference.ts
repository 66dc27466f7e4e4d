export const outputGateReference = (attended: readonly number[], gate: readonly number[]): number[] =>
  attended.map((x, i) => x / (1 + Math.exp(-(gate[i] as number))));
