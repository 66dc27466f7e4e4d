// A limit for silence: work may be slow, but it must show progress, because a hung GPU reports nothing.
import { OutriderError } from '../../../src/index.ts';

/** A software adapter may compile for minutes on a busy machine. */
const IDLE_LIMIT_MS = 300_000;

/** Rejects when `work` has not called `onProgress` for `ms`. */
export const withIdleTimeout = async <T>(
  work: (onProgress: () => void) => Promise<T>,
  ms = IDLE_LIMIT_MS,
): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let giveUp: (error: OutriderError) => void = () => {};
  const silence = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const onProgress = (): void => {
    clearTimeout(timer);
    timer = setTimeout(
      () => giveUp(new OutriderError('bug', `the run made no progress for ${Math.round(ms / 1000)} s`, 'Try again.')),
      ms,
    );
  };
  onProgress();
  try {
    return await Promise.race([work(onProgress), silence]);
  } finally {
    clearTimeout(timer);
  }
};
