// Raw numbers on disk: what the commands write that are compared with other implementations.
import { type FileHandle, open } from 'node:fs/promises';
import { UsageError } from './arguments.ts';

/** Lowest index wins a tie, as on the device. */
export const argmax = (row: Float32Array): number =>
  row.reduce((best, value, i) => (value > (row[best] as number) ? i : best), 0);

/** Files to append to, closed together. */
export class OutputFiles implements AsyncDisposable {
  readonly #open: FileHandle[] = [];

  async open(path: string): Promise<FileHandle> {
    const file = await open(path, 'w').catch((cause: unknown) => {
      throw new UsageError(`cannot write ${path}: ${(cause as Error).message}`);
    });
    this.#open.push(file);
    return file;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#open.map((file) => file.close()));
  }
}

/** Appends f32 little-endian, which is what every machine that Dawn runs on has in memory. */
export const append = (file: FileHandle | undefined, values: Float32Array): Promise<unknown> | undefined =>
  file?.write(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
