// Work that may be slow, but not silent: a hung GPU tells nobody.
import { OutriderError } from '../../../src/index.ts';

/** A software adapter compiles for minutes on a busy machine. */
export const PATIENCE_MS = 300_000;

/** `alive` is called at every sign of life; without one for `ms`, the work is given up. */
export const withPatience = async <T>(work: (alive: () => void) => Promise<T>, ms = PATIENCE_MS): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let giveUp: (error: OutriderError) => void = () => {};
  const silence = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const alive = (): void => {
    clearTimeout(timer);
    timer = setTimeout(
      () => giveUp(new OutriderError('bug', `no sign of life for ${Math.round(ms / 1000)} s`, 'Try it again.')),
      ms,
    );
  };
  alive();
  try {
    return await Promise.race([work(alive), silence]);
  } finally {
    clearTimeout(timer);
  }
};
