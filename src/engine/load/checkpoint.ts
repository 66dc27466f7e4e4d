// Opens the files of a model and reports their bytes as a download.
import type { Checkpoint } from '../../weights/checkpoint.ts';
import type { FileSet } from '../../weights/files/byte-source.ts';
import { fileSet, openCheckpoint, type Source } from '../../weights/open.ts';
import type { LoadSourceOptions } from './loaded-models.ts';

/** Files that are read whole. */
export const openFiles = (source: Source, { signal, store, onProgress }: LoadSourceOptions): FileSet =>
  fileSet(source, {
    signal,
    store,
    onProgress: (loaded, total) => onProgress?.({ phase: 'download', loaded, total: Math.max(loaded, total) }),
  });

/**
 * Loads from a source. A failure says how to delete what was stored of it, if anything was. Files with known digests
 * have been fetched again by then.
 */
export const loading = async <T>(
  source: Source,
  { store }: Pick<LoadSourceOptions, 'store'>,
  load: () => Promise<T>,
): Promise<T> => {
  try {
    return await load();
  } catch (error) {
    throw source.kind === 'url' && !source.digests && store ? await store.explain(error, source.url) : error;
  }
};

/**
 * Reads the headers only; the tensors' bytes are reported as they are streamed. `toRead`: how many there will be.
 */
export const openSource = async (
  source: Source,
  { signal, store, onProgress }: LoadSourceOptions,
  toRead: (checkpoint: Checkpoint) => number = ({ bytes }) => bytes,
): Promise<Checkpoint> => {
  let unread = 0;
  const checkpoint = await openCheckpoint(source, {
    signal,
    store,
    onProgress: (loaded, all) => onProgress?.({ phase: 'download', loaded, total: Math.max(loaded, all - unread) }),
  });
  unread = checkpoint.bytes - toRead(checkpoint);
  return checkpoint;
};
