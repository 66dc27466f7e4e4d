// A store's folder on the disk whose writes a test can make fail, as those of a full disk do.
import { DiskFolder as Plain } from '../../cli/disk-folder.ts';
import type { StoreFile } from '../../weights/files/chunks.ts';

export class DiskFolder extends Plain {
  /** Set by a test: throws where a browser would, for instance when the disk is full. */
  onWrite: (bytes: number) => void = () => {};

  override async getDirectoryHandle(name: string, options?: { create?: boolean }): Promise<DiskFolder> {
    const folder = new DiskFolder((await super.getDirectoryHandle(name, options)).path);
    folder.onWrite = (bytes) => this.onWrite(bytes);
    return folder;
  }

  override async getFileHandle(name: string, options?: { create?: boolean }): Promise<StoreFile> {
    const file = await super.getFileHandle(name, options);
    return {
      ...file,
      createWritable: async () => {
        const writable = await file.createWritable();
        return {
          ...writable,
          write: async (data) => {
            this.onWrite(data.length);
            await writable.write(data);
          },
        };
      },
    };
  }
}
