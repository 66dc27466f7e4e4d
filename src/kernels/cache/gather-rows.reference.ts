/** output[i] = input[indices[i]]. */
export const gatherRowsReference = <T>(input: readonly T[], indices: readonly number[]): T[] =>
  indices.map((index) => input[index] as T);
