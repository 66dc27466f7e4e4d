// Writes raw numbers to disk, to compare them with other implementations.
import { type FileHandle, open } from 'node:fs/promises';
import { notFinite } from '../model/sampling/sampler.ts';
import { WorkError } from './arguments.ts';
import { cannotWrite } from './writable.ts';

/** Lowest index wins a tie, as on the device. */
export const argmax = (row: Float32Array): number =>
  row.reduce((best, value, i) => (value > (row[best] as number) ? i : best), 0);

/** Numbers to compare; a NaN among them comes from the weights. */
export const finite = <Values extends ArrayLike<number>>(values: Values): Values => {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) throw notFinite();
  return values;
};

export interface OutputFile {
  readonly path: string;
  readonly handle: FileHandle;
}

/** Files to append to, closed together. */
export class OutputFiles implements AsyncDisposable {
  readonly #open: FileHandle[] = [];

  async open(path: string): Promise<OutputFile> {
    const handle = await open(path, 'w').catch((cause: Error) => {
      throw cannotWrite(path, cause);
    });
    this.#open.push(handle);
    return { path, handle };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#open.map((file) => file.close()));
  }
}

/** Appends f32 little-endian, which is what every machine that Dawn runs on has in memory. */
export const append = async (file: OutputFile | undefined, values: Float32Array): Promise<void> => {
  // Not `write`: a nearly full disk takes a part of the bytes without an error.
  await file?.handle
    .appendFile(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
    .catch((cause: Error) => {
      throw new WorkError(cannotWrite(file.path, cause));
    });
};
