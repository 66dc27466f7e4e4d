// Checkpoints on a disk. This is the only file of weights/ that needs Node: no code that a browser loads may import it.
import { open, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { checkAborted } from '../../base/errors.ts';
import { bad } from '../../base/refuse.ts';
import type { Source } from '../open.ts';
import { type ByteSource, type FileSet, truncated } from './byte-source.ts';

const fileSource = async (path: string): Promise<ByteSource> => {
  const file = await open(path);
  const name = basename(path);
  const { size } = await file.stat();
  return {
    name,
    size,
    readInto: async (target, start, signal) => {
      checkAborted(signal);
      const end = start + target.byteLength;
      if (end > size) throw truncated(name, size, end);
      let done = 0;
      while (done < target.length) {
        const { bytesRead } = await file.read(target, done, target.length - done, start + done);
        if (bytesRead === 0) throw truncated(name, start + done, end);
        done += bytesRead;
      }
    },
    [Symbol.dispose]: () => void file.close(),
  };
};

/** A model folder, or one file in it. */
export const folderFiles = async (path: string): Promise<FileSet> => {
  const found = await stat(path).catch(() => {
    throw bad(`${path}: no such file or folder`, 'Name a model folder or a .gguf file.');
  });
  const folder = found.isDirectory() ? path : dirname(path);
  const names = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => entry.name);
  const inner = async (name: string): Promise<boolean> =>
    name.includes('/') && (await stat(join(folder, name)).catch(() => null)) !== null;
  const open = async (name: string): Promise<ByteSource | null> =>
    names.includes(name) || (await inner(name)) ? fileSource(join(folder, name)) : null;
  const files = { name: basename(path), names, entry: found.isDirectory() ? null : basename(path), open };
  // A single file may share its folder with other models.
  const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
  return { ...files, ...(found.isDirectory() && { write }) };
};

/** The same as a source for `openCheckpoint`. */
export const folderSource = async (path: string): Promise<Source> => ({
  kind: 'folder',
  files: await folderFiles(path),
});
