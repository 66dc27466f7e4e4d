/** log Σ exp of a row of logits: what turns a logit into a log-probability. Plain loops: rows have 150,000 logits and more. */
export const logSumExp = (row: Float32Array): number => {
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < row.length; i++) if ((row[i] as number) > most) most = row[i] as number;
  let sum = 0; // NaN, where a logit is
  for (let i = 0; i < row.length; i++) sum += Math.exp((row[i] as number) - most);
  return most + Math.log(sum);
};
