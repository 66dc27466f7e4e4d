// Files that a command writes: an error about one names it and says what to do.
import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from './arguments.ts';

export const cannotWrite = (path: string, { message }: Error): UsageError =>
  new UsageError(`cannot write ${path}: ${message}`, 'Name a file in a folder that is there and has room.');

/** Throws where this file cannot be written; call it before the work whose result the file is to hold. */
export const checkWritable = async (path: string): Promise<void> => {
  try {
    const there = await stat(path).catch(() => null);
    if (there?.isDirectory()) throw new Error('it is a folder');
    await access(there ? path : `${dirname(path)}/`, constants.W_OK);
  } catch (cause) {
    throw cannotWrite(path, cause as Error);
  }
};
