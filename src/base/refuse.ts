// The errors that most of the library throws. Each of these returns the error, so that the caller's `throw` ends the branch.
import { type Facts, OutriderError } from './errors.ts';

/** The caller asked for what cannot be done: `throw refuse('top 65 exceeds 64', 'Ask for fewer.')`. */
export const refuse = (message: string, hint = '', options?: ErrorOptions & Facts): OutriderError =>
  new OutriderError('bad-request', message, hint, options);

/** A constraint on the answer cannot be used, or cannot be kept. */
export const badConstraint = (message: string, hint = '', options?: ErrorOptions): OutriderError =>
  new OutriderError('bad-constraint', message, hint, options);

/** Of a message that shows names from a stranger's file, which may be megabytes long. */
const MOST_CHARACTERS = 500;

/** A file of a checkpoint, or its content, cannot be used. */
export const bad = (message: string, hint = '', options?: ErrorOptions): OutriderError => {
  const short = message.length > MOST_CHARACTERS ? `${message.slice(0, MOST_CHARACTERS)}…` : message;
  return new OutriderError('bad-checkpoint', short, hint, options);
};
