// What lies beside a model's weights and is none of them: what is usual for its steps (calibration.json). It may come with
// the model, or be made here: then it is kept where the model is, or, of a model from the network, in the browser's own
// file system under the model's address and version, so that new weights do not find what was measured on the old ones.

import { parseJson, readJson } from '../../weights/files/byte-source.ts';
import type { Store } from '../../weights/files/store.ts';
import { fileSet, type Source } from '../../weights/open.ts';

/** JSON files of a model that are not of its checkpoint. */
export interface Sidecar {
  /** Null where there is none of this name. */
  read(file: string): Promise<unknown>;
  /** From now on it is there. False: until the model is loaded anew. */
  write(file: string, value: unknown): Promise<boolean>;
}

/** `version`: of the weights. */
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
