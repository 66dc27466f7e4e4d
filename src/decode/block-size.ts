// Which block size a policy's predictions speak for.
import { OutriderError } from '../errors.ts';
import type { BlockPolicy } from './system.ts';

/** The predicted τ of each candidate; which the policy must know. */
export const predicted = async (
  policy: BlockPolicy,
  logits: Float32Array,
  candidates: readonly number[],
): Promise<number[]> => {
  const all = await policy.predict(logits);
  return candidates.map((size) => {
    const tau = all[policy.blockSizes.indexOf(size)];
    if (tau === undefined)
      throw new OutriderError(
        'bad-request',
        `blockpilot: the policy knows no block size ${size}`,
        `It was trained for ${policy.blockSizes.join(', ')}.`,
      );
    return tau;
  });
};

/** Predictions and timings of rounds err by as much (docs/log.md): among sizes that are no further apart the smallest wins. */
export const TIE = 0.03;

/** The size of the largest value; of several that are as good, the smallest. */
export const bestSize = (sizes: readonly number[], values: readonly number[], tie = 0): number => {
  const least = (1 - tie) * Math.max(...values);
  return Math.min(...sizes.filter((_, i) => (values[i] as number) >= least));
};
