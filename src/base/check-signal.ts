// Callers may write JavaScript, and what is no signal could not end the work that it comes with.
import { refuse } from './refuse.ts';
import { shown } from './shown.ts';

/** Throws `bad-request`. Null is as good as absent. */
export const checkSignal = (signal: unknown, name = 'signal'): void => {
  if ((signal ?? null) === null || signal instanceof AbortSignal) return;
  throw refuse(`${name} must be an AbortSignal, not ${shown(signal)}`, 'Give the `signal` of an AbortController.');
};
