import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { pause } from './pause.ts';

it('waits, and leaves no listener on the signal', async () => {
  const { signal } = new AbortController();
  const began = performance.now();
  await pause(20, signal);
  expect(performance.now() - began).toBeGreaterThan(15);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('ends at once when the signal fires', async () => {
  const abort = new AbortController();
  const waiting = pause(60_000, abort.signal);
  abort.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
});
