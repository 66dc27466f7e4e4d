// What a judge's row of logits means: one value is a reward, classes are ordered from "the draft's step is as good" to
// "the target's is better".

export interface Answer {
  /** Of every label; a value has one. */
  readonly probabilities: readonly number[];
  /**
   * 0 to 1: the reward; or where among the classes the step is expected, which of two is the second one's probability.
   */
  readonly score: number;
}

export const answerOf = (logits: ArrayLike<number>): Answer => {
  const row = Array.from(logits);
  if (row.length === 1) {
    const reward = 1 / (1 + Math.exp(-(row[0] as number)));
    return { probabilities: [reward], score: reward };
  }
  const top = Math.max(...row);
  const powers = row.map((logit) => Math.exp(logit - top));
  const total = powers.reduce((a, b) => a + b, 0);
  const probabilities = powers.map((power) => power / total);
  const score = probabilities.reduce((sum, p, label) => sum + (p * label) / (row.length - 1), 0);
  return { probabilities, score };
};
