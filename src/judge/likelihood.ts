// A step is as good as its least likely token, by a model that has learned the task.
import { logSumExp } from '../base/log-sum-exp.ts';
import type { Judge } from '../decode/core/system.ts';

/** The least log-probability of a token; `rows`: the logits that each of the `tokens` was to be drawn from. */
export const leastLogprob = (rows: readonly Float32Array[], tokens: readonly number[]): number =>
  rows.reduce((least, row, i) => Math.min(least, (row[tokens[i] as number] as number) - logSumExp(row)), 0);

/** A step's reward is its least likely token's probability; the target's advantage is 1 minus that. */
export const rewardOf = (least: number, gives: Judge['gives']): number =>
  gives === 'reward' ? Math.exp(least) : 1 - Math.exp(least);
