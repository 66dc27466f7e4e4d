// Waiting that a signal ends.
import { checkAborted } from './errors.ts';

/** Throws `aborted` where the signal fires first. It leaves no listener on it: a long run waits many times. */
export const pause = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
  checkAborted(signal);
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
  checkAborted(signal);
};
