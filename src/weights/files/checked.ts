// Files whose SHA-256 is known beforehand, as of the bundled models: the first read fetches the whole file and compares
// it. What was stored of a file that differs is given up, and the file is fetched once more.
import { bad } from '../../base/refuse.ts';
import { type ByteSource, type FileSet, memorySource, readBytes } from './byte-source.ts';
import { sha256 } from './digest.ts';
import { missingFile } from './missing.ts';

/** SHA-256 in hexadecimal, by the file's name. */
export type Digests = Readonly<Record<string, string>>;

/** Other files of the set are read as they are. */
export const checkedFiles = (files: FileSet, digests: Digests): FileSet => ({
  ...files,
  async open(name, options) {
    if (!Object.hasOwn(digests, name)) return files.open(name, options);
    const source = await files.open(name, options);
    if (!source) throw missingFile(files, name);
    const afresh = () => files.open(name, { ...options, afresh: true });
    return checkedSource(files.name, source, digests[name] as string, afresh);
  },
});

/** What to do where files of a bundled model are missing, or others. */
export const SERVE_BUNDLED =
  'Serve the folder models/ of this version of Outrider as it is, next to the page or below `base`.';

const checkedSource = (
  set: string,
  source: ByteSource,
  digest: string,
  afresh: () => Promise<ByteSource | null>,
): ByteSource => {
  let checked: Promise<ByteSource> | null = null;
  /** The bytes of a file if they are right. */
  const read = async (from: ByteSource, signal: AbortSignal | undefined): Promise<ByteSource | null> => {
    const bytes = await readBytes(from, 0, from.size, signal);
    return (await sha256(bytes)) === digest ? memorySource(from.name, bytes) : null;
  };
  const check = async (signal: AbortSignal | undefined): Promise<ByteSource> => {
    const first = await read(source, signal);
    if (first) return first;
    using again = await afresh();
    const second = again && (await read(again, signal));
    if (second) return second;
    throw bad(`${set}: ${source.name} differs from the file that this version of Outrider came with`, SERVE_BUNDLED);
  };
  return {
    name: source.name,
    size: source.size,
    version: source.version ?? '',
    async readInto(target, start, signal) {
      checked ??= check(signal);
      try {
        await (await checked).readInto(target, start, signal);
      } catch (error) {
        checked = null; // it may have been aborted
        throw error;
      }
    },
    release: () => source.release?.(),
    [Symbol.dispose]: () => {
      checked = null;
      source[Symbol.dispose]();
    },
  };
};
