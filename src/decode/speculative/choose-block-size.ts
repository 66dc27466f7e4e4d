// Chooses a block size from a policy's predictions.
import { bad } from '../../base/refuse.ts';
import type { Emit } from '../../trace/index.ts';
import type { BlockPolicy } from '../core/system.ts';

/** Less than any model's logit; a token that the request bans has less (kernels/sampling/adjust-logits.ts). */
const BANNED = -1e20;

/** A policy has only ever read a model's own logits: those of banned tokens count as the least of the others. */
const withoutBans = (logits: Float32Array): Float32Array => {
  const least = logits.reduce((a, b) => (b > BANNED && b < a ? b : a), Number.POSITIVE_INFINITY);
  return logits.map((logit) => Math.max(logit, least));
};

/** The predicted τ of each candidate. */
const predicted = async (
  policy: BlockPolicy,
  logits: Float32Array,
  candidates: readonly number[],
): Promise<number[]> => {
  const all = await policy.predict(withoutBans(logits));
  return candidates.map((size) => {
    const tau = all[policy.blockSizes.indexOf(size)] ?? Number.NaN;
    if (!Number.isFinite(tau))
      throw bad(`blockpilot: the policy predicts ${tau} tokens`, 'Its weights are damaged: download it again.');
    return tau;
  });
};

/**
 * The relative error of predictions and timings (docs/log/speculation.md): sizes within it count as equal, and the smallest wins.
 */
const TIE = 0.03;

/** The size with the largest value; of several within `tie` of it, the smallest. */
const bestSize = (sizes: readonly number[], values: readonly number[], tie = 0): number => {
  const least = (1 - tie) * Math.max(...values);
  return Math.min(...sizes.filter((_, i) => (values[i] as number) >= least));
};

/**
 * The size with the least time a token, or with the largest τ: also where the clock is too coarse to see a round, whose
 * time then is 0. An event says which, with all predictions and times. */
export const chooseSize = async ({
  policy,
  logits,
  candidates,
  by,
  times,
  emit,
}: {
  readonly policy: BlockPolicy;
  readonly logits: Float32Array;
  readonly candidates: readonly number[];
  readonly by: 'time' | 'tau';
  /** Milliseconds of a round of each candidate. */
  readonly times: () => Promise<readonly number[]>;
  readonly emit: Emit;
}): Promise<number> => {
  const start = performance.now();
  const tau = await predicted(policy, logits, candidates);
  const ms = performance.now() - start;
  const round_ms = await times();
  const rates = tau.map((t, i) => t / (round_ms[i] as number));
  const isTimed = by === 'time' && !round_ms.includes(0);
  const size = isTimed ? bestSize(candidates, rates, TIE) : bestSize(candidates, tau);
  emit({ type: 'block-size', size, candidates, tau, round_ms, ms });
  return size;
};
