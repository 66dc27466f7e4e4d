/** `input[tap][row]`; a row of the result has all its taps. */
export const gatherTapsReference = (input: readonly (readonly (readonly number[])[])[], rows: number): number[][] =>
  Array.from({ length: rows }, (_, row) => input.flatMap((tap) => tap[row] as readonly number[]));
