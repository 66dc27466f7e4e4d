import { expect, it, vi } from 'vitest';
import { toyModel } from '../../testing/toys/toy-model.ts';
import type { Sequence } from '../core/system.ts';
import { Timings } from '../core/timings.ts';
import { keptDrafts, passCosts } from './markov-drafter.ts';
import { timeBlockSizes } from './time-block-sizes.ts';

const sequenceOf = (tokens: readonly number[], budget: number): Sequence => {
  const sampling = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 };
  const promptLength = tokens.length;
  return { tokens, budget, sampling, drafting: sampling, constraint: null, promptLength, alternatives: null };
};

it.each([
  ['the tokens still wanted', 2, 64, [3]],
  ['the rows still free', 40, 16, [4, 6]],
])('of blocks larger than %s it times the one that they shrink to', async (_, budget, context, timed) => {
  const tokens = Array.from({ length: 10 }, (_, i) => i);
  using target = await toyModel({ vocabulary: 12, sharpness: 3, context }).open();
  await target.extend(tokens);
  const sequence = sequenceOf(tokens, budget);
  const asked = new Set<number>();
  const ofSize = (size: number) => {
    asked.add(size);
    return { propose: () => null };
  };
  const run = { timings: new Timings(), sequence, signal: new AbortController().signal };
  expect(await timeBlockSizes(target, ofSize, [1, 4, 8, 16], run)).toHaveLength(4);
  expect([...asked]).toEqual(timed);
});

it('on a clock too coarse to see a pass, costs are assumed, and drafts that pay by them are kept', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(0);
  using target = await toyModel({ vocabulary: 12, sharpness: 3, context: 64 }).open();
  await target.extend([1, 2, 3]);
  const { signal } = new AbortController();
  const run = { timings: new Timings(), software: false, sequence: sequenceOf([1, 2, 3], 40), signal };
  const costs = await passCosts(target, 4, false, run);
  expect(costs).toEqual(await passCosts(target, 4, true, run));
  expect(keptDrafts([0.9, 0.9, 0.9, 0.9], { rule: 'schedule', costs })).toBe(4);
});
