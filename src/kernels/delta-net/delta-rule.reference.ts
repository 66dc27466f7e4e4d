const unit = (x: readonly number[]): number[] => {
  const length = Math.sqrt(x.reduce((sum, value) => sum + value * value, 1e-6));
  return x.map((value) => value / length);
};

/** What one row of one value head gives the rule: `query`, `key` and `value` after the convolution. */
export interface DeltaInput {
  readonly query: readonly number[];
  readonly key: readonly number[];
  readonly value: readonly number[];
  readonly rate: number;
  readonly decay: number;
}

/** The outputs of the rows of one value head, and the state that they leave: `[key dimension][value dimension]`. */
export const deltaReference = (
  rows: readonly DeltaInput[],
  { decayLog, decayBias }: { readonly decayLog: number; readonly decayBias: number },
): { readonly outputs: readonly (readonly number[])[]; readonly state: readonly (readonly number[])[] } => {
  let state = rows[0]?.key.map(() => rows[0]?.value.map(() => 0) ?? []) ?? [];
  const read = (by: readonly number[]): number[] =>
    (state[0] ?? []).map((_, j) => by.reduce((sum, x, i) => sum + x * (state[i]?.[j] as number), 0));
  const outputs = rows.map(({ query, key, value, rate, decay }) => {
    const kept = Math.exp(-Math.exp(decayLog) * Math.log1p(Math.exp(decay + decayBias)));
    const k = unit(key);
    state = state.map((line) => line.map((x) => x * kept));
    const known = read(k);
    const change = value.map((x, j) => (x - (known[j] as number)) / (1 + Math.exp(-rate)));
    state = state.map((line, i) => line.map((x, j) => x + (k[i] as number) * (change[j] as number)));
    return read(unit(query).map((x) => x / Math.sqrt(query.length)));
  });
  return { outputs, state };
};
