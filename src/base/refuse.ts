// What a caller asked for and cannot have.
import { OutriderError } from './errors.ts';

export const refuse = (message: string, hint = ''): OutriderError => new OutriderError('bad-request', message, hint);
