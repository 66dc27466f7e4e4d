import { expect, it } from 'vitest';
import { toyModel } from '../../testing/toys/toy-model.ts';
import type { Sequence } from '../core/system.ts';
import { Timings } from '../core/timings.ts';
import { timeBlockSizes } from './time-block-sizes.ts';

it.each([
  ['the tokens still wanted', 2, 64, [3]],
  ['the rows still free', 40, 16, [4, 6]],
])('of blocks larger than %s it times the one that they shrink to', async (_, budget, context, timed) => {
  const tokens = Array.from({ length: 10 }, (_, i) => i);
  using target = await toyModel({ vocabulary: 12, sharpness: 3, context }).open();
  await target.extend(tokens);
  const sampling = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 };
  const sequence: Sequence = {
    tokens,
    budget,
    sampling,
    drafting: sampling,
    constraint: null,
    promptLength: 10,
    alternatives: null,
  };
  const asked = new Set<number>();
  const ofSize = (size: number) => {
    asked.add(size);
    return { propose: () => null };
  };
  const run = { timings: new Timings(), sequence, signal: new AbortController().signal };
  expect(await timeBlockSizes(target, ofSize, [1, 4, 8, 16], run)).toHaveLength(4);
  expect([...asked]).toEqual(timed);
});
