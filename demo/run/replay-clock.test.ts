import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TraceEvent } from '../../src/trace/index.ts';
import { Gate, paced } from './replay-clock.ts';

// By a clock that only the test moves: a busy machine changes nothing.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const commit = (round: number, at: number): TraceEvent => ({
  ...{ at, type: 'commit', round, tokens: [round], source: ['sampled'], text: null, logprobs: null, ms: 1 },
});
const RUN: readonly TraceEvent[] = [commit(0, 40), commit(1, 60)];

const times = async (how: Parameters<typeof paced>[1]): Promise<number[]> => {
  const began = performance.now();
  const seen: number[] = [];
  for await (const _ of paced(RUN, how)) seen.push(performance.now() - began);
  return seen;
};

test('comes at the recorded pace; slower only behind the first token', async () => {
  const { signal } = new AbortController();
  const running = times({ slower: 4, signal });
  await vi.runAllTimersAsync();
  expect(await running).toEqual([40, 120]);
});

test('begins with the first token of another run, however long that takes', async () => {
  const { signal } = new AbortController();
  const gate = new Gate();
  const running = times({ together: gate.opened, signal });
  await vi.advanceTimersByTimeAsync(120);
  gate.open();
  await vi.runAllTimersAsync();
  expect(await running).toEqual([120, 140]);
});

test('ends as a run that was aborted, at the time that was reached', async () => {
  const abort = new AbortController();
  const run = async (): Promise<TraceEvent[]> => {
    const seen: TraceEvent[] = [];
    for await (const event of paced(RUN, { slower: 1000, signal: abort.signal })) {
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
