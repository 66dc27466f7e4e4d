import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TraceEvent } from '../../src/trace/index.ts';
import { replayed } from './replay-clock.ts';

// Fake timers: the load of the machine changes nothing.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const commit = (round: number, at: number): TraceEvent => ({
  ...{ at, type: 'commit', round, tokens: [round], source: ['sampled'], text: null, logprobs: null, ms: 1 },
});
const RUN: readonly TraceEvent[] = [commit(0, 40), commit(1, 60)];

const times = async (how: Parameters<typeof replayed>[1]): Promise<number[]> => {
  const began = performance.now();
  const seen: number[] = [];
  for await (const _ of replayed(RUN, how)) seen.push(performance.now() - began);
  return seen;
};

test('events come at their recorded times, and slower only after the first token', async () => {
  const { signal } = new AbortController();
  const running = times({ slower: 4, signal });
  await vi.runAllTimersAsync();
  expect(await running).toEqual([40, 120]);
});

test('a long run that is due at once lets the page answer', async () => {
  vi.useRealTimers();
  const run = Array.from({ length: 5 }, (_, round) => commit(round, 0));
  let answered = false;
  setTimeout(() => {
    answered = true;
  }, 0);
  for await (const { type } of replayed(run, { slower: 1, signal: new AbortController().signal })) {
    expect(type).toBe('commit');
    const began = performance.now();
    while (performance.now() - began < 30); // the page draws
  }
  expect(answered).toBe(true);
});

test('an aborted replay ends as an aborted run, at the time it reached', async () => {
  const abort = new AbortController();
  const run = async (): Promise<TraceEvent[]> => {
    const seen: TraceEvent[] = [];
    for await (const event of replayed(RUN, { slower: 1000, signal: abort.signal })) {
      seen.push(event);
      abort.abort();
    }
    return seen;
  };
  const running = run();
  await vi.runAllTimersAsync();
  expect((await running).map(({ type, at }) => [type, at])).toEqual([
    ['commit', 40],
    ['done', 40],
  ]);
});
