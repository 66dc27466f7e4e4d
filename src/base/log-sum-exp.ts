/** log Σ exp of a row of logits: what turns a logit into a log-probability. Plain loops: rows have 150,000 logits and more. */
export const logSumExp = (row: Float32Array): number => {
  let most = Number.NEGATIVE_INFINITY;
  for (const logit of row) most = Math.max(most, logit);
  let sum = 0;
  for (const logit of row) sum += Math.exp(logit - most);
  return most + Math.log(sum);
};
