import { gumbel } from './counter-random.ts';
import type { Draw } from './sample.ts';

/** Of any number of values, unlike Math.max of them. */
export const largest = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), -Infinity);

type Filters = Pick<Draw, 'temperature' | 'topK' | 'topP' | 'minP'>;

/** The exact probability of every token after temperature, top-k, top-p and min-p, in that order. */
export const distributionReference = (logits: readonly number[], { temperature, topK, topP, minP }: Filters) => {
  const top = largest(logits);
  if (temperature === 0) {
    const best = logits.indexOf(top);
    return logits.map((_, i) => (i === best ? 1 : 0));
  }
  let masses = logits.map((logit) => Math.exp((logit - top) / temperature));
  const keep = (least: number) => {
    masses = masses.map((mass) => (mass >= least ? mass : 0));
  };
  const sorted = () => masses.toSorted((a, b) => b - a);
  const total = () => masses.reduce((a, b) => a + b, 0);
  if (topK > 0) keep(sorted()[topK - 1] ?? 0);
  if (topP < 1) {
    const descending = sorted();
    let [count, missing] = [1, topP * total() - (descending[0] as number)];
    while (missing > 0 && count < descending.length) missing -= descending[count++] as number;
    keep(descending[count - 1] as number);
  }
  keep(minP);
  const sum = total();
  return masses.map((mass) => mass / sum);
};

/** A draw from these masses, in any unit: the argmax of log + Gumbel noise, lowest index on ties. */
export const drawReference = (masses: readonly number[], position: number, seed: number): number => {
  const scores = masses.map((mass, token) => Math.log(mass) + gumbel(token, position, seed));
  return scores.indexOf(largest(scores));
};

/** What the kernel makes of a draw. */
export const sampleReference = (logits: readonly number[], draw: Draw) => {
  const token = drawReference(distributionReference(logits, draw), draw.position, draw.seed);
  const top = largest(logits);
  const logSumExp = top + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - top), 0));
  return { token, logit: logits[token] as number, logSumExp };
};
