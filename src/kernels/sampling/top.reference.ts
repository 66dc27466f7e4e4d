/** The n most probable tokens, best first, lowest index first among equals, with their log-probabilities. */
export const topReference = (logits: readonly number[], n: number): { token: number; logprob: number }[] => {
  const top = Math.max(...logits);
  const logSumExp = top + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - top), 0));
  return logits
    .map((logit, token) => ({ token, logprob: logit - logSumExp }))
    .toSorted((a, b) => b.logprob - a.logprob || a.token - b.token)
    .slice(0, n);
};
