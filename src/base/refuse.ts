// The two errors that most of the library throws. Both return the error, so that the caller's `throw` ends the branch.
import { OutriderError } from './errors.ts';

/** The caller asked for what cannot be done: `throw refuse('top 65 exceeds 64', 'Ask for fewer.')`. */
export const refuse = (message: string, hint = '', options?: ErrorOptions): OutriderError =>
  new OutriderError('bad-request', message, hint, options);

/** A file of a checkpoint, or its content, cannot be used. */
export const bad = (message: string, hint = '', options?: ErrorOptions): OutriderError =>
  new OutriderError('bad-checkpoint', message, hint, options);
