// Sidecar files: JSON that belongs to a model and is no part of its checkpoint, such as the usual range of its step
// signals (calibration.json). It comes with the model or is written here: next to the model, or, for a model from the
// network, in the browser's file system under the model's address and version. New weights do not find what was
// measured on old ones. Each file is read once, while the model is loaded: runs need no network.
import { toFault } from '../../base/errors.ts';
import { parseJson, readText } from '../../weights/files/byte-source.ts';
import type { Store } from '../../weights/files/store.ts';
import { fileSet, type Source } from '../../weights/open.ts';

/** JSON files that belong to a model and are no part of its checkpoint. */
export interface Sidecar {
  /** Null when there is no file of this name, or it cannot be had. */
  read(file: string, signal?: AbortSignal): Promise<unknown>;
  /** Stores a file. False when it lasts only until the model is loaded again. */
  write(file: string, value: unknown): Promise<boolean>;
}

/** A model is complete without its sidecar files, so a server that gives none takes nothing away. */
const absent = (error: unknown): null => {
  if (toFault(error).code === 'download-failed') return null;
  throw error;
};

/** `version`: that of the weights. */
export const openSidecar = (source: Source, version: string, store: Store | undefined): Sidecar => {
  const files = fileSet(source, { store });
  /** The files' texts; null: there is none, or it could not be had. */
  const texts = new Map<string, string | null>();
  const key = (file: string): string | null => (source.kind === 'url' ? [source.url, version, file].join('\n') : null);
  const find = async (file: string, signal: AbortSignal | undefined): Promise<string | null> => {
    const own = key(file);
    const noted = own === null ? null : await store?.recall(own);
    if (noted) return noted;
    using found = await files.open(file, { optional: true, signal });
    return found && (await readText(found, signal));
  };
  return {
    async read(file, signal) {
      if (!texts.has(file)) texts.set(file, await find(file, signal).catch(absent));
      const text = texts.get(file) ?? null;
      return text === null ? null : parseJson(file, text);
    },
    async write(file, value) {
      const text = `${JSON.stringify(value, null, 2)}\n`;
      texts.set(file, text);
      const own = key(file);
      if (own !== null) return (await store?.note(own, text)) ?? false;
      await files.write?.(file, text);
      return files.write !== undefined;
    },
  };
};
