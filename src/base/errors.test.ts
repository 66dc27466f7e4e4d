import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { errorOf, OutriderError, toFault, unlessAborted } from './errors.ts';

it('carries what programs go by across a worker', () => {
  const facts = {
    remedy: { maxTokens: 8 },
    overflow: { requested: 9, context: 8 },
    unsupported: 'reasoning',
    field: 'knobs' as const,
  };
  const error = new OutriderError('bad-request', 'too much', 'Ask for less.', facts);
  expect(errorOf(structuredClone(toFault(error)))).toMatchObject({
    code: 'bad-request',
    hint: 'Ask for less.',
    ...facts,
  });
  expect(toFault(new OutriderError('aborted', 'stopped'))).toEqual({ code: 'aborted', message: 'stopped', hint: '' });
});

it('gives what the work gives, and leaves no listener on the signal', async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve(7), signal)).toBe(7);
  await expect(unlessAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('ends at once when the signal fires, or has fired, with its reason', async () => {
  const abort = new AbortController();
  const waiting = unlessAborted(new Promise(() => {}), abort.signal);
  abort.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  // Work that fails afterwards is no unhandled rejection: the test would fail with it.
  await expect(unlessAborted(Promise.reject(new Error('late')), abort.signal)).rejects.toThrow('enough');
});
