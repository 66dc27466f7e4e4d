// Sidecar files: JSON that belongs to a model and is no part of its checkpoint, such as the usual range of its step
// signals (calibration.json). It comes with the model or is written here: next to the model, or, for a model from the
// network, in the browser's file system under the model's address and version. New weights do not find what was
// measured on old ones.
import { parseJson, readJson } from '../../weights/files/byte-source.ts';
import type { Store } from '../../weights/files/store.ts';
import { fileSet, type Source } from '../../weights/open.ts';

/** JSON files that belong to a model and are no part of its checkpoint. */
export interface Sidecar {
  /** Null when there is no file of this name. */
  read(file: string): Promise<unknown>;
  /** Stores a file. False when it lasts only until the model is loaded again. */
  write(file: string, value: unknown): Promise<boolean>;
}

/** `version`: that of the weights. */
export const openSidecar = (source: Source, version: string, store: Store | undefined): Sidecar => {
  const files = fileSet(source, { store });
  const written = new Map<string, unknown>();
  const key = (file: string): string | null => (source.kind === 'url' ? [source.url, version, file].join('\n') : null);
  return {
    async read(file) {
      if (written.has(file)) return written.get(file);
      const own = key(file);
      const noted = own === null ? null : await store?.recall(own);
      return noted ? parseJson(file, noted) : readJson(files, file, { optional: true });
    },
    async write(file, value) {
      written.set(file, value);
      const text = `${JSON.stringify(value, null, 2)}\n`;
      const own = key(file);
      if (own !== null) return (await store?.note(own, text)) ?? false;
      await files.write?.(file, text);
      return files.write !== undefined;
    },
  };
};
