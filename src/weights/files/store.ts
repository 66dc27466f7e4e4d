// Files from the network, kept in the browser's own file system (OPFS) under their address and version, and used from
// there without asking the network again. chunks.ts has how they lie there and why no interruption can harm them.
import { checkAborted, OutriderError } from '../../base/errors.ts';
import { type ByteSource, type OpenFile, truncated } from './byte-source.ts';
import { Chunks, type Entry, nameOf, readEntry, type StoreFolder, write, writeEntry } from './chunks.ts';
import { type HttpOptions, HttpSource } from './http.ts';

export interface StoreOptions extends OpenFile, HttpOptions {
  readonly revalidate?: boolean | undefined;
}

const CHUNK_BYTES = 4 * 2 ** 20;

const noteName = async (key: string): Promise<string> => `${await nameOf(key)}.note`;

export class Store {
  readonly #folder: StoreFolder | null;
  readonly #chunkBytes: number;
  /** For people: why downloads are not kept, or no longer. Null while they are. */
  notice: string | null;

  /** Without a folder nothing is kept, and `notice` says so. */
  constructor(folder: StoreFolder | null, options: { chunkBytes?: number; notice?: string } = {}) {
    this.#folder = folder;
    this.#chunkBytes = options.chunkBytes ?? CHUNK_BYTES;
    this.notice = folder ? null : (options.notice ?? 'There is no storage: models are downloaded anew each time.');
  }

  /** Null when there is nothing at the address. */
  async open(address: string, options: StoreOptions = {}): Promise<ByteSource | null> {
    if (!this.#folder) return HttpSource.open(address, options);
    try {
      return await this.#openKept(this.#folder, address, options);
    } catch (error) {
      if (error instanceof OutriderError) throw error;
      this.#giveUp(error);
      return HttpSource.open(address, options);
    }
  }

  async #openKept(folder: StoreFolder, address: string, options: StoreOptions): Promise<ByteSource | null> {
    const pointer = `${await nameOf(address)}.json`;
    const known = await readEntry(folder, pointer, address);
    if (known && !options.revalidate) {
      if (known.size < 0) return null;
      const chunks = await Chunks.open(folder, known);
      if (chunks.complete) return new StoredSource(known, chunks, null, this, options);
    }
    const http = await HttpSource.open(address, options);
    try {
      const found = { size: http?.size ?? -1, version: http?.version ?? '' };
      const entry: Entry = { address, ...found, chunkBytes: this.#chunkBytes };
      if (known && JSON.stringify(known) !== JSON.stringify(entry)) await Chunks.remove(folder, known);
      if (http || options.optional) await this.keep(() => writeEntry(folder, pointer, entry));
      if (!http) return null;
      const chunks = await Chunks.open(folder, entry);
      if (chunks.complete) http.release();
      return new StoredSource(entry, chunks, http, this, options);
    } catch (error) {
      http?.release();
      throw error;
    }
  }

  /** Removes what is kept of an address. */
  async remove(address: string): Promise<void> {
    const folder = this.#folder;
    if (!folder) return;
    const pointer = `${await nameOf(address)}.json`;
    const known = await readEntry(folder, pointer, address);
    if (!known) return;
    await folder.removeEntry(pointer);
    await Chunks.remove(folder, known);
  }

  /** The text that was noted under this key; null when there is none. */
  async recall(key: string): Promise<string | null> {
    const name = await noteName(key);
    const handle = await this.#folder?.getFileHandle(name).catch(() => null);
    return handle ? (await handle.getFile()).text() : null;
  }

  /** Keeps a short text of our own next to the files. False when it will not be there the next time. */
  async note(key: string, text: string): Promise<boolean> {
    const folder = this.#folder;
    if (!folder) return false;
    await this.keep(async () => write(folder, await noteName(key), new TextEncoder().encode(text)));
    return this.notice === null;
  }

  /** A full disk must not stop a download: from then on downloads are not kept. */
  async keep(write: () => Promise<void>): Promise<void> {
    if (this.notice === null) await write().catch((error) => this.#giveUp(error));
  }

  #giveUp(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.notice = `Storing failed (${reason}): what is not stored yet will be downloaded again next time.`;
  }
}

/** The store of this browser; a worker and a page share it. */
export const openBrowserStore = async (): Promise<Store> => {
  try {
    const root = await navigator.storage.getDirectory();
    // The DOM's types lack `keys` in some configurations; the browsers that have OPFS have it.
    const folder = (await root.getDirectoryHandle('outrider', { create: true })) as unknown as StoreFolder;
    if (!('createWritable' in FileSystemFileHandle.prototype)) throw new Error('createWritable is missing');
    return new Store(folder);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return new Store(null, { notice: `This browser offers no storage here (${reason}): models are not kept.` });
  }
};

class StoredSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly version: string;
  readonly #entry: Entry;
  readonly #chunks: Chunks;
  readonly #store: Store;
  readonly #options: StoreOptions;
  #http: HttpSource | null;
  /** The chunk that was read last: row blocks end inside chunks. */
  #held = -1;
  #bytes = new Uint8Array(0);

  constructor(entry: Entry, chunks: Chunks, http: HttpSource | null, store: Store, options: StoreOptions) {
    this.#options = options;
    this.name = new URL(entry.address).pathname.split('/').at(-1) || entry.address;
    this.size = entry.size;
    this.version = entry.version;
    this.#entry = entry;
    this.#chunks = chunks;
    this.#http = http;
    this.#store = store;
  }

  async readInto(target: Uint8Array, start: number, signal?: AbortSignal): Promise<void> {
    const end = start + target.length;
    if (end > this.size) throw truncated(this.name, this.size, end);
    const { chunkBytes } = this.#entry;
    for (let at = start; at < end; ) {
      checkAborted(signal);
      const index = Math.floor(at / chunkBytes);
      await this.#hold(index, signal);
      const from = at - index * chunkBytes;
      const part = this.#bytes.subarray(from, Math.min(this.#bytes.length, from + end - at));
      target.set(part, at - start);
      at += part.length;
    }
  }

  async #hold(index: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#held === index) return;
    this.#held = -1;
    const length = this.#chunks.length(index);
    if (this.#bytes.length !== length) this.#bytes = new Uint8Array(length);
    if (!(await this.#chunks.read(index, this.#bytes))) {
      const http = await this.#online(signal);
      await http.readInto(this.#bytes, index * this.#entry.chunkBytes, signal);
      await this.#store.keep(() => this.#chunks.write(index, this.#bytes));
    }
    this.#held = index;
  }

  /** A complete file needs no connection, unless a chunk of it turns out to be damaged. */
  async #online(signal: AbortSignal | undefined): Promise<HttpSource> {
    if (this.#http) return this.#http;
    const { address, size, version } = this.#entry;
    const http = await HttpSource.open(address, { ...this.#options, signal });
    if (http?.size !== size || http.version !== version) {
      http?.[Symbol.dispose]();
      await this.#store.remove(address);
      throw new OutriderError(
        'download-failed',
        `${address}: the stored copy is damaged and the file has changed`,
        'Load it again.',
      );
    }
    this.#http = http;
    return http;
  }

  release(): void {
    this.#http?.release();
  }

  [Symbol.dispose](): void {
    this.release();
    this.#bytes = new Uint8Array(0);
    this.#held = -1;
  }
}
