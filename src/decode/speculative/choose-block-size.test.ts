import { expect, it } from 'vitest';
import type { Emit } from '../../trace/index.ts';
import { chooseSize } from './choose-block-size.ts';

const CANDIDATES = [1, 4, 8];

/** The size that is chosen by time, of these predictions and measured times. */
const chosen = async (tau: readonly number[], round_ms: readonly number[]): Promise<number> => {
  const policy = { vocabulary: 4, blockSizes: CANDIDATES, predict: async () => tau, [Symbol.dispose]() {} };
  const told: unknown[] = [];
  const emit: Emit = (event) => void told.push(event);
  const times = async () => round_ms;
  const logits = new Float32Array(4);
  const size = await chooseSize({ policy, logits, candidates: CANDIDATES, by: 'time', times, emit });
  expect(told).toMatchObject([{ type: 'block-size', size, tau, round_ms }]);
  return size;
};

it('takes the least time a token, and the largest τ where the clock is too coarse to see a round', async () => {
  expect(await chosen([1, 3, 4], [10, 12, 40])).toBe(4);
  expect(await chosen([1, 3, 4], [0, 0, 0])).toBe(8);
  expect(await chosen([1, 3, 4], [0, 100, 100])).toBe(8);
});
