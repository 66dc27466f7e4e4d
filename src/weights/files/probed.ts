// A set of files that can be asked which files it has before one is read. What the question opened is kept for the first
// who opens it, so that an address is requested once.
import type { ByteSource, FileSet } from './byte-source.ts';

export interface ProbedFiles extends FileSet, Disposable {
  has(name: string, signal?: AbortSignal): Promise<boolean>;
}

export const probed = (files: FileSet): ProbedFiles => {
  /** Null: there is no such file. */
  const kept = new Map<string, ByteSource | null>();
  return {
    name: files.name,
    names: files.names,
    entry: files.entry,
    addressOf: files.addressOf,
    hint: files.hint,
    get sentPage() {
      return files.sentPage;
    },
    async has(name, signal) {
      if (files.names) return files.names.includes(name);
      if (!kept.has(name)) kept.set(name, await files.open(name, { signal, optional: true }));
      return kept.get(name) !== null;
    },
    async open(name, options) {
      const file = kept.get(name);
      if (file === null && !options.afresh) return null;
      kept.delete(name);
      if (file && !options.afresh) return file;
      file?.[Symbol.dispose]();
      return files.open(name, options);
    },
    [Symbol.dispose]() {
      for (const file of kept.values()) file?.[Symbol.dispose]();
      kept.clear();
    },
  };
};
