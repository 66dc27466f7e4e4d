// The store's part of the File System API on a folder of the disk, with OPFS's rules: a new file is there, empty, from
// its creation on, and what is written to it appears at `close` and not before.
import { mkdirSync, openAsBlob, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreFile, StoreFolder } from '../../weights/files/chunks.ts';

export class DiskFolder implements StoreFolder {
  readonly path: string;
  /** Set by a test: throws where a browser would, for instance when the disk is full. */
  onWrite: (bytes: number) => void = () => {};

  constructor(path: string) {
    this.path = path;
  }

  async getDirectoryHandle(name: string, options: { create?: boolean } = {}): Promise<StoreFolder> {
    const folder = new DiskFolder(join(this.path, name));
    if (options.create) mkdirSync(folder.path, { recursive: true });
    if (!statSync(folder.path).isDirectory()) throw new DOMException(name, 'TypeMismatchError');
    folder.onWrite = (bytes) => this.onWrite(bytes);
    return folder;
  }

  async getFileHandle(name: string, options: { create?: boolean } = {}): Promise<StoreFile> {
    const path = join(this.path, name);
    if (options.create) writeFileSync(path, '', { flag: 'a' });
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new DOMException(name, 'NotFoundError');
    return {
      getFile: () => openAsBlob(path),
      createWritable: async () => {
        const swap = `${path}.${Math.random().toString(36).slice(2)}.crswap`;
        writeFileSync(swap, '');
        return {
          write: async (data) => {
            this.onWrite(data.length);
            writeFileSync(swap, data, { flag: 'a' });
          },
          close: async () => renameSync(swap, path),
          abort: async () => rmSync(swap),
        };
      },
    };
  }

  async removeEntry(name: string, options: { recursive?: boolean } = {}): Promise<void> {
    rmSync(join(this.path, name), { recursive: options.recursive ?? false });
  }

  async *keys(): AsyncGenerator<string> {
    for (const name of readdirSync(this.path)) if (!name.endsWith('.crswap')) yield name;
  }
}
