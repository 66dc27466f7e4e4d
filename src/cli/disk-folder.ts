// A folder of this machine's disk as the store of downloads uses one. It is made when something is stored in it.
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { refuse } from '../base/refuse.ts';
import type { StoreFile, StoreFolder } from '../weights/files/chunks.ts';

const makeFolder = (path: string): Promise<unknown> =>
  mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });

/** With those above it. Not mkdir's `recursive`: where a parent can never be made, as below /proc, Node 20 tries for ever. */
const makeFolders = async (path: string): Promise<void> => {
  try {
    await makeFolder(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolders(dirname(path));
    await makeFolder(path);
  }
};

export class DiskFolder implements StoreFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  async getDirectoryHandle(name: string, options: { create?: boolean } = {}): Promise<DiskFolder> {
    const path = join(this.path, name);
    if (options.create) await makeFolders(path);
    await readdir(path); // throws where there is no folder
    return new DiskFolder(path);
  }

  async getFileHandle(name: string, options: { create?: boolean } = {}): Promise<StoreFile> {
    const path = join(this.path, name);
    if (options.create) {
      await makeFolders(this.path);
      await (await open(path, 'a')).close();
    }
    await stat(path); // throws where there is no file
    return {
      getFile: async () => new Blob([await readFile(path)]),
      createWritable: async () => {
        const swap = `${path}.${crypto.randomUUID()}.swap`;
        const file = await open(swap, 'wx');
        return {
          write: (data) => file.writeFile(data),
          close: async () => {
            await file.close();
            await rename(swap, path);
          },
          abort: async () => {
            await file.close();
            await rm(swap);
          },
        };
      },
    };
  }

  async removeEntry(name: string, options: { recursive?: boolean } = {}): Promise<void> {
    await rm(join(this.path, name), { recursive: options.recursive ?? false });
  }

  async *keys(): AsyncGenerator<string> {
    const names = await readdir(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []; // nothing was ever stored
      throw refuse(`cannot read the folder ${this.path}: ${error.message}`, 'OUTRIDER_STORE names another one.');
    });
    for (const name of names) if (!name.endsWith('.swap')) yield name;
  }
}
