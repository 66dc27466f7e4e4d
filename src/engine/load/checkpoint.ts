// Opens a checkpoint and reports its bytes as a download.
import type { Checkpoint } from '../../weights/checkpoint.ts';
import { openCheckpoint, type Source } from '../../weights/open.ts';
import type { LoadSourceOptions } from './loaded-models.ts';

/** Reads the headers only; the tensors' bytes are reported as they are streamed. */
export const openSource = async (
  source: Source,
  { signal, store, onProgress }: LoadSourceOptions,
): Promise<Checkpoint> => {
  let total = 0;
  const checkpoint = await openCheckpoint(source, {
    signal,
    store,
    onProgress: (loaded) => onProgress?.({ phase: 'download', loaded, total: Math.max(loaded, total) }),
  });
  total = checkpoint.bytes;
  return checkpoint;
};
