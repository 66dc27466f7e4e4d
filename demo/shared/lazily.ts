// Parts of the page whose code is fetched when they are first used.
import { OutriderError } from '../../src/index.ts';
import { hideFault } from './faults.ts';

/**
 * Gives what `make` makes of the fetched code: once. A fetch that failed is tried again with the next call; when that
 * succeeds, the error is no longer shown.
 */
export const lazily = <Code, Part>(fetch: () => Promise<Code>, make: (code: Code) => Part): (() => Promise<Part>) => {
  let part: Promise<Part> | null = null;
  let failed = false;
  const fail = (cause: unknown): never => {
    part = null;
    failed = true;
    // Some browsers remember a script that failed until the page is loaded again.
    const hint = 'Check the connection and try again, or reload the page.';
    throw new OutriderError('download-failed', 'this part of the page could not be fetched', hint, { cause });
  };
  return () => {
    part ??= fetch()
      .catch(fail)
      .then((code) => {
        if (failed) hideFault();
        return make(code);
      });
    return part;
  };
};
