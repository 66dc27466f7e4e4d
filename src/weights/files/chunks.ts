// Stores a file in the browser's file system, in chunks named by their SHA-256. A chunk appears under its name only
// when it is complete, so an interruption at any byte loses one chunk at most. Chunks are checked against their names
// when they are read. Each version of a file has a folder of its own, so two versions cannot be mixed.
import { isObject } from '../../base/is-object.ts';
import { sha256, sha256OfText } from './digest.ts';

/** The part of `FileSystemDirectoryHandle` that the store uses; tests run on a folder of the disk. */
export interface StoreFolder {
  getDirectoryHandle(name: string, options?: { create?: boolean }): Promise<StoreFolder>;
  getFileHandle(name: string, options?: { create?: boolean }): Promise<StoreFile>;
  removeEntry(name: string, options?: { recursive?: boolean }): Promise<void>;
  keys(): AsyncIterable<string>;
}

export interface StoreFile {
  getFile(): Promise<Blob>;
  /** The content becomes visible at `close`. */
  createWritable(): Promise<{
    write(data: Uint8Array<ArrayBuffer>): Promise<void>;
    close(): Promise<void>;
    abort(): Promise<void>;
  }>;
}

/** The stored facts of an address. `size` −1: there is no file. */
export interface Entry {
  readonly address: string;
  readonly size: number;
  readonly version: string;
  readonly chunkBytes: number;
  /** Of an absent file: when the server said so, as `Date.now()` has it; 0 when what it sent was a page. */
  readonly asked?: number;
}

/**
 * Part of every name in the store: raise it when nothing that was stored before may be used any more. Names of layout 1
 * had no prefix; what it stored of a file without a version could be of two versions.
 */
const LAYOUT = 'v2-';

const hashed = async (text: string): Promise<string> => (await sha256OfText(text)).slice(0, 32);

export const nameOf = async (text: string): Promise<string> => LAYOUT + (await hashed(text));

const chunkName = async (index: number, bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  `${index}.${await sha256(bytes)}`;

const identity = ({ address, size, version, chunkBytes }: Entry): string =>
  [address, size, version, chunkBytes].join('\n');

export class Chunks {
  readonly #folder: StoreFolder;
  readonly #entry: Entry;
  readonly #names: Map<number, string>;
  /** Chunks that were there and turned out to be damaged or gone. */
  readonly #lost = new Map<number, string>();

  private constructor(folder: StoreFolder, entry: Entry, names: Map<number, string>) {
    this.#folder = folder;
    this.#entry = entry;
    this.#names = names;
  }

  static folderName(entry: Entry): Promise<string> {
    return nameOf(identity(entry));
  }

  static async open(root: StoreFolder, entry: Entry): Promise<Chunks> {
    const folder = await root.getDirectoryHandle(await Chunks.folderName(entry), { create: true });
    const names = new Map<number, string>();
    for await (const name of folder.keys()) {
      const [, index] = /^(\d+)\.[0-9a-f]{64}$/.exec(name) ?? [];
      if (index !== undefined && Number(index) * entry.chunkBytes < entry.size) names.set(Number(index), name);
    }
    return new Chunks(folder, entry, names);
  }

  static async remove(root: StoreFolder, entry: Entry): Promise<void> {
    // Another tab may be reading it: then it stays, unused, until the browser clears it.
    await root.removeEntry(await Chunks.folderName(entry), { recursive: true }).catch(() => {});
  }

  /** Chunks of the whole file. */
  get count(): number {
    return Math.ceil(this.#entry.size / this.#entry.chunkBytes);
  }

  get complete(): boolean {
    return this.#names.size === this.count;
  }

  /** This chunk is the only one that is not there. */
  lacksOnly(index: number): boolean {
    return this.#names.size === this.count - 1 && !this.#names.has(index);
  }

  /** Of the chunks that are there. */
  get bytes(): number {
    return [...this.#names.keys()].reduce((sum, index) => sum + this.length(index), 0);
  }

  /** Bytes of chunk `index`; the last one is shorter. */
  length(index: number): number {
    return Math.min(this.#entry.chunkBytes, this.#entry.size - index * this.#entry.chunkBytes);
  }

  /** False when the chunk is not there, or is not what its name says; it is then gone. */
  async read(index: number, into: Uint8Array): Promise<boolean> {
    const name = this.#names.get(index);
    if (!name) return false;
    const bytes = await this.#verified(name, this.length(index)).catch(() => null);
    if (bytes) into.set(bytes);
    else {
      this.#names.delete(index);
      this.#lost.set(index, name);
      await this.#folder.removeEntry(name).catch(() => {});
    }
    return bytes !== null;
  }

  /** False when these bytes are to replace a chunk that had others. */
  async mayReplace(index: number, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const lost = this.#lost.get(index);
    return lost === undefined || lost === (await chunkName(index, bytes));
  }

  async #verified(name: string, length: number): Promise<Uint8Array | null> {
    const file = await (await this.#folder.getFileHandle(name)).getFile();
    // Between its creation and its first `close` a file is empty, and an interruption leaves it so.
    if (file.size !== length) return null;
    const bytes = new Uint8Array(await file.arrayBuffer());
    return name.endsWith(await sha256(bytes)) ? bytes : null;
  }

  async write(index: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const name = await chunkName(index, bytes);
    await write(this.#folder, name, bytes);
    this.#names.set(index, name);
  }
}

/** A short text with its digest on the first line, so that damage shows. */
export const writeText = async (folder: StoreFolder, name: string, text: string): Promise<void> =>
  write(folder, name, new TextEncoder().encode(`${await sha256OfText(text)}\n${text}`));

/** Null when there is none, or it is damaged. */
export const readText = async (folder: StoreFolder, name: string): Promise<string | null> => {
  const handle = await folder.getFileHandle(name).catch(() => null);
  const content = await handle
    ?.getFile()
    .then((file) => file.text())
    .catch(() => null);
  const [, digest, text] = /^([0-9a-f]{64})\n([\s\S]*)$/.exec(content ?? '') ?? [];
  return text !== undefined && digest === (await sha256OfText(text)) ? text : null;
};

export const writeEntry = (folder: StoreFolder, name: string, entry: Entry): Promise<void> =>
  writeText(folder, name, JSON.stringify(entry));

/** Afterwards the file of this name is complete. */
const write = async (folder: StoreFolder, name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> => {
  const writable = await (await folder.getFileHandle(name, { create: true })).createWritable();
  try {
    await writable.write(bytes);
  } catch (error) {
    await writable.abort();
    throw error;
  }
  await writable.close();
};

/** Removes what earlier layouts have stored, and nothing else: the folder may have other files. */
export const removeEarlier = async (folder: StoreFolder): Promise<void> => {
  const earlier: string[] = [];
  for await (const name of folder.keys()) if (/^[0-9a-f]{32}\.json$/.test(name)) earlier.push(name);
  for (const name of earlier) {
    const entry = await readEntry(folder, name);
    if (!entry) continue; // not ours
    await folder.removeEntry(await hashed(identity(entry)), { recursive: true }).catch(() => {}); // or in use
    await folder.removeEntry(name).catch(() => {});
  }
};

/** Null when there is none, or it is damaged. */
export const readEntry = async (folder: StoreFolder, name: string): Promise<Entry | null> => {
  const text = await readText(folder, name);
  if (text === null) return null;
  const entry: unknown = JSON.parse(text); // its digest was right: we wrote it
  const known = isObject(entry) && typeof entry.address === 'string' && Number.isSafeInteger(entry.size);
  return known && typeof entry.version === 'string' && (entry.chunkBytes as number) > 0
    ? (entry as unknown as Entry)
    : null;
};
