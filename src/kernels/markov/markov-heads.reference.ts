const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

export const markovGateReference = (gates: readonly number[], embedded: readonly number[]): number[] =>
  embedded.map((e, i) => sigmoid(gates[i] as number) * e);

/** `joint`: gate, candidate and output of each entry of the state, one list after the other. */
export const markovRecurReference = (
  joint: readonly number[],
  state: readonly number[],
): { state: number[]; output: number[] } => {
  const rank = state.length;
  const at = (part: number, i: number): number => joint[part * rank + i] as number;
  return {
    state: state.map((s, i) => sigmoid(at(0, i)) * s + (1 - sigmoid(at(0, i))) * Math.tanh(at(1, i))),
    output: state.map((_, i) => Math.tanh(at(2, i))),
  };
};
