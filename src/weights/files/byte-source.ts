// Sources of bytes: a file that can be read at any place, and a set of such files under their names. Memory and `File`s
// are here; http.ts reads an address, store.ts keeps downloads, folder.ts (Node only) reads a disk.
import { checkAborted, type OutriderError } from '../../base/errors.ts';
import { isObject } from '../../base/is-object.ts';
import { bad } from '../../base/refuse.ts';

export interface ByteSource extends Disposable {
  /** For people, in messages. */
  readonly name: string;
  readonly size: number;
  /** The server's name for this version; absent or '' when it has none. */
  readonly version?: string;
  /** Fills `target` with the bytes from `start` on; one read at a time. Throws `bad-checkpoint` when the file ends before. */
  readInto(target: Uint8Array, start: number, signal?: AbortSignal): Promise<void>;
  /** Closes a connection that waits for the next read; that read makes a new one. */
  release?(): void;
}

export const readBytes = async (
  source: ByteSource,
  start: number,
  end: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> => {
  // Checked before the array is made: a length in a file must not be able to take all memory.
  if (end > source.size) throw truncated(source.name, source.size, end);
  const bytes = new Uint8Array(end - start);
  await source.readInto(bytes, start, signal);
  return bytes;
};

export interface OpenFile {
  readonly signal?: AbortSignal | undefined;
  /** A model without this file is complete, so its absence may be remembered. */
  readonly optional?: boolean;
  /** What is stored of the file is wrong: it is fetched again. */
  readonly afresh?: boolean;
}

export interface FileSet {
  readonly name: string;
  /** All names, or null when they cannot be listed (an address). */
  readonly names: readonly string[] | null;
  /** The file that was named; null when it was the whole set. */
  readonly entry: string | null;
  /** Where a file is on the web; absent where the set is on this machine. */
  readonly addressOf?: ((name: string) => string) | undefined;
  /** What to do when a file is missing. Absent: what the set itself shows. */
  readonly hint?: string | undefined;
  /** A server has answered with a page instead of a file, as some do for every path. */
  readonly sentPage?: boolean | undefined;
  /** Null when there is no such file. */
  open(name: string, options: OpenFile): Promise<ByteSource | null>;
  /** Writes a file; absent when files cannot be added. */
  write?(name: string, text: string): Promise<void>;
}

/** A JSON file of a checkpoint is at most this long (the largest tokenizer.json known has 33 MB). */
const MAX_TEXT_BYTES = 64 * 2 ** 20;

export const truncated = (name: string, size: number, end: number): OutriderError =>
  bad(
    `${name}: truncated: it has ${size} bytes, and byte ${end} is needed`,
    'The file is incomplete: download or copy it again.',
  );

export const memorySource = (name: string, bytes: Uint8Array): ByteSource => ({
  name,
  size: bytes.byteLength,
  readInto: async (target, start, signal) => {
    checkAborted(signal);
    const end = start + target.byteLength;
    if (end > bytes.byteLength) throw truncated(name, bytes.byteLength, end);
    target.set(bytes.subarray(start, end));
  },
  [Symbol.dispose]: () => {},
});

export const blobSource = (name: string, blob: Blob): ByteSource => ({
  name,
  size: blob.size,
  readInto: async (target, start, signal) => {
    checkAborted(signal);
    const end = start + target.byteLength;
    if (end > blob.size) throw truncated(name, blob.size, end);
    target.set(new Uint8Array(await blob.slice(start, end).arrayBuffer()));
  },
  [Symbol.dispose]: () => {},
});

const listed = <T>(
  name: string,
  files: ReadonlyMap<string, T>,
  wrap: (name: string, file: T) => ByteSource,
): FileSet => ({
  name,
  names: [...files.keys()],
  entry: files.size === 1 ? ([...files.keys()][0] as string) : null,
  open: async (file) => {
    const found = files.get(file);
    return found === undefined ? null : wrap(file, found);
  },
});

export const memoryFiles = (files: ReadonlyMap<string, Uint8Array>): FileSet => listed('memory', files, memorySource);

/** Dropped or chosen files. Of a whole folder, a file of an inner one never hides one of the same name above it. */
export const blobFiles = (files: readonly File[] | FileList): FileSet => {
  const path = (file: File): string => file.webkitRelativePath || file.name;
  const depth = (file: File): number => path(file).split('/').length;
  const outermostLast = [...files].sort((a, b) => depth(b) - depth(a));
  const [first] = files;
  const name = first ? (path(first).split('/')[0] as string) : 'no files';
  return listed(name, new Map(outermostLast.map((file) => [file.name, file])), blobSource);
};

export const readJson = async (
  files: FileSet,
  name: string,
  options: OpenFile,
): Promise<Record<string, unknown> | null> => {
  using source = await files.open(name, options);
  return source && parseJson(name, await readText(source, options.signal));
};

export const readText = async (source: ByteSource, signal?: AbortSignal): Promise<string> => {
  if (source.size > MAX_TEXT_BYTES) throw bad(`${source.name}: ${source.size} bytes is too long for a text file`);
  return new TextDecoder().decode(await readBytes(source, 0, source.size, signal));
};

export const parseJson = (name: string, text: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw bad(`${name}: not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw bad(`${name}: not a JSON object`);
  return value;
};
