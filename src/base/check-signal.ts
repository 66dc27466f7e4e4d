// Callers may write JavaScript, and what is no signal could not end the work that it comes with.
import { refuse } from './refuse.ts';
import { shown } from './shown.ts';

/** By its tag: one of another frame is no instance of this one's class. */
const isSignal = (value: unknown): boolean => Object.prototype.toString.call(value) === '[object AbortSignal]';

/** Throws `bad-request`. Null is as good as absent. */
export const checkSignal = (signal: unknown, name = 'signal'): void => {
  if ((signal ?? null) === null || isSignal(signal)) return;
  throw refuse(`${name} must be an AbortSignal, not ${shown(signal)}`, 'Give the `signal` of an AbortController.');
};
