// Work in a worker, given up on abort: a terminated worker never answers.
import { OutriderError } from '../../../src/index.ts';

/** Rejects on abort. */
export const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  work.catch(() => {});
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new OutriderError('aborted', 'cancelled'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
  aborted.catch(() => {});
  return Promise.race([work, aborted]);
};
