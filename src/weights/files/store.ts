// Files from the network, kept in the browser's own file system (OPFS) under their address and version, and used from
// there without asking the network again. chunks.ts has how they lie there and why no interruption can harm them. A
// file whose server names no version gets a version of ours with each download, is never continued by a later one, and
// is compared with the server's in a few places.
import { checkAborted, OutriderError, toFault } from '../../base/errors.ts';
import { refuse } from '../../base/refuse.ts';
import { firstFile } from './address.ts';
import { type ByteSource, type OpenFile, truncated } from './byte-source.ts';
import {
  Chunks,
  type Entry,
  nameOf,
  readEntry,
  readText,
  removeEarlier,
  type StoreFolder,
  writeEntry,
  writeText,
} from './chunks.ts';
import { changed, type HttpOptions, HttpSource, Interrupted } from './http.ts';
import { listStored, modelOf, type StoredFiles, type StoredModel } from './stored-models.ts';

export interface StoreOptions extends OpenFile, HttpOptions {
  readonly revalidate?: boolean | undefined;
}

/** How a file is checked against its server's own SHA-256, where there is one. */
export interface WholeCheck {
  /** In hexadecimal; null where the server states none. */
  stated(address: string, signal: AbortSignal | undefined): Promise<string | null>;
  /** A page has none: a browser digests only what is in memory at once. */
  hash(): { update(bytes: Uint8Array): unknown; digest(encoding: 'hex'): string };
}

export interface StoreSettings {
  readonly chunkBytes?: number;
  /** Why there is no folder. */
  readonly notice?: string;
  readonly check?: WholeCheck;
  /** How people delete a stored model. */
  readonly deletion?: (name: string) => string;
}

const CHUNK_BYTES = 4 * 2 ** 20;
/** So long a server that did not answer is not asked again whether whole copies are current, in milliseconds. */
const SILENCE = 60_000;
/** So long it is believed that a file is absent: a site may have been half deployed when it said so. */
const ABSENCE = 3_600_000;

/** Begins the version of a file whose server names none. */
const OWN = 'own ';
/** Places that are compared where there is no version to compare, and bytes at each. */
const SAMPLES = 4;
const SAMPLE_BYTES = 1024;

const pointerName = async (address: string): Promise<string> => `${await nameOf(address)}.json`;

const entryOf = async (folder: StoreFolder, address: string): Promise<Entry | null> => {
  const entry = await readEntry(folder, await pointerName(address));
  return entry?.address === address ? entry : null;
};

const noteName = async (key: string): Promise<string> => `${await nameOf(key)}.note`;

export class Store {
  readonly #folder: StoreFolder | null;
  readonly #settings: StoreSettings;
  /** Why downloads are not kept, or no longer. Null while they are. */
  #unkept: string | null;
  /** Models whose copies are used, because their server could not be asked whether they are current. */
  readonly #unasked = new Set<string>();
  /** Why it could not be asked, the last time. */
  #reason = '';
  /** By origin: servers that did not answer, and when. */
  readonly #silent = new Map<string, { readonly at: number; readonly error: unknown }>();
  #swept: Promise<void> | null = null;

  /** Without a folder nothing is kept, and `notice` says so. */
  constructor(folder: StoreFolder | null, settings: StoreSettings = {}) {
    this.#folder = folder;
    this.#settings = settings;
    this.#unkept = folder
      ? null
      : (settings.notice ?? 'There is no storage here: models are downloaded anew each time.');
  }

  /** For people: what works otherwise than usual. Null: nothing. */
  get notice(): string | null {
    const names = [...this.#unasked].join(', ');
    const used = `${this.#reason}. Stored copies are used, and whether they are current is not known: ${names}.`;
    return [this.#unkept ?? [], names ? used : []].flat().join(' ') || null;
  }

  get check(): WholeCheck | undefined {
    return this.#settings.check;
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
    await this.#sweep(folder);
    if (options.afresh) await this.remove(address);
    const known = await entryOf(folder, address);
    const chunks = known && known.size >= 0 ? await Chunks.open(folder, known) : null;
    const copy = known && chunks?.complete ? new StoredSource(known, chunks, null, this, options) : null;
    const isAbsent = known !== null && known.size < 0;
    const isWhole = copy !== null || isAbsent;
    const isBelieved = !isAbsent || Math.abs(Date.now() - (known.asked ?? 0)) < ABSENCE;
    if (isWhole && isBelieved && !options.revalidate) return copy;
    const useUnasked = (error: unknown): ByteSource | null => {
      if (options.revalidate) this.#useUnasked(address, error);
      return copy;
    };
    const silence = this.#silent.get(new URL(address).origin);
    if (isWhole && silence && performance.now() - silence.at < SILENCE) return useUnasked(silence.error);
    let http: HttpSource | null = null;
    let asked = Date.now();
    const onPage = (): void => {
      asked = 0;
      options.onPage?.();
    };
    try {
      http = await HttpSource.open(address, { ...options, onPage }, isWhole ? 1 : undefined);
      this.#unasked.delete(modelOf(address).name);
      if (http && copy && http.version === '' && known?.version.startsWith(OWN)) {
        http.release();
        if (await copy.isCurrent(options.signal)) return copy;
      }
    } catch (error) {
      if (!isWhole || options.signal?.aborted) throw error;
      if (error instanceof Error && error.cause instanceof Interrupted)
        this.#silent.set(new URL(address).origin, { at: performance.now(), error });
      return useUnasked(error);
    }
    try {
      return await this.#download(folder, address, known, http ?? asked, options);
    } catch (error) {
      http?.release();
      throw error;
    }
  }

  /** The file at the address, with what is kept of this very version. A number: there is none, see `Entry.asked`. */
  async #download(
    folder: StoreFolder,
    address: string,
    known: Entry | null,
    http: HttpSource | number,
    options: StoreOptions,
  ): Promise<ByteSource | null> {
    const isAbsent = typeof http === 'number';
    const version = isAbsent ? '' : http.version || OWN + crypto.randomUUID();
    const entry: Entry = {
      address,
      size: isAbsent ? -1 : http.size,
      version,
      chunkBytes: this.#settings.chunkBytes ?? CHUNK_BYTES,
      ...(isAbsent && { asked: http }),
    };
    if (known && JSON.stringify(known) !== JSON.stringify(entry)) await Chunks.remove(folder, known);
    if (!isAbsent || options.optional)
      await this.keep(async () => writeEntry(folder, await pointerName(address), entry));
    if (isAbsent) return null;
    const chunks = await Chunks.open(folder, entry);
    if (chunks.complete) http.release();
    return new StoredSource(entry, chunks, http, this, options);
  }

  async #sweep(folder: StoreFolder): Promise<void> {
    this.#swept ??= removeEarlier(folder).catch(() => {}); // a broken storage is noticed when it is used
    await this.#swept;
  }

  #useUnasked(address: string, error: unknown): void {
    this.#unasked.add(modelOf(address).name);
    this.#reason = toFault(error).message;
  }

  /**
   * The error of a load from this address. Where something is stored of the model, its hint says how that is deleted: a
   * download may be damaged on its way, and is then damaged in every load.
   */
  async explain(error: unknown, address: string): Promise<unknown> {
    if (!(error instanceof OutriderError && error.code === 'bad-checkpoint') || !this.#folder) return error;
    const { name } = modelOf(firstFile(address));
    const stored = await listStored(this.#folder).catch(() => []);
    if (!stored.some((model) => model.name === name)) return error;
    const way = this.#settings.deletion?.(name) ?? `Delete it among the stored models, or by deleteStored('${name}')`;
    const { code, message, hint, ...facts } = toFault(error);
    const more = `If the file itself is right, its stored copy is damaged. ${way}, then load it again.`;
    return new OutriderError(code, message, `${hint} ${more}`.trim(), { ...facts, cause: error });
  }

  /** Removes what is kept of an address. `version`: this one alone, because another tab may have stored a newer one. */
  async remove(address: string, version?: Entry): Promise<void> {
    const folder = this.#folder;
    if (!folder) return;
    const known = await entryOf(folder, address);
    const isNewer = version && known && JSON.stringify(known) !== JSON.stringify(version);
    if (!isNewer) await folder.removeEntry(await pointerName(address)).catch(() => {}); // it was not there
    const removed = version ?? known;
    if (removed) await Chunks.remove(folder, removed);
  }

  /** The models of which something is stored, by name. */
  async list(): Promise<StoredModel[]> {
    return (await this.#models()).map(({ files: _, ...model }) => model);
  }

  /** Frees what is stored of a model and returns what that was. It is downloaded again when it is loaded again. */
  async delete(name: string): Promise<StoredModel> {
    const found = await this.#models();
    const model = found.find((each) => each.name === name);
    if (!model) {
      const names = found.map((each) => each.name).join(', ');
      throw refuse(`no stored model is called "${name}"`, names ? `There are: ${names}.` : 'No model is stored.');
    }
    const { files, ...deleted } = model;
    for (const file of files) await this.remove(file);
    this.#unkept = null; // there is room again
    return deleted;
  }

  async #models(): Promise<StoredFiles[]> {
    if (!this.#folder) return [];
    await this.#sweep(this.#folder);
    return listStored(this.#folder);
  }

  /** The text that was noted under this key; null when there is none. */
  async recall(key: string): Promise<string | null> {
    return this.#folder && readText(this.#folder, await noteName(key));
  }

  /** Keeps a short text of our own next to the files. False when it will not be there the next time. */
  async note(key: string, text: string): Promise<boolean> {
    const folder = this.#folder;
    if (!folder) return false;
    return this.keep(async () => writeText(folder, await noteName(key), text));
  }

  /** A full disk must not stop a download: from then on downloads are not kept. False when this was not kept. */
  async keep(write: () => Promise<void>): Promise<boolean> {
    if (this.#unkept !== null) return false;
    try {
      await write();
      return true;
    } catch (error) {
      // Not found: the model was deleted while it is downloaded, and others can still be stored.
      if (!(error instanceof DOMException && error.name === 'NotFoundError')) this.#giveUp(error);
      return false;
    }
  }

  #giveUp(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#unkept = `Storing failed (${reason}): what is not stored yet will be downloaded again next time.`;
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
    if (!('isSecureContext' in globalThis)) return new Store(null); // no browser: what is said by default is all
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
  #closed = false;

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
      if (this.#closed) throw new OutriderError('aborted', `${this.name} was closed while it was read`);
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
    if (!(await this.#chunks.read(index, this.#bytes))) await this.#fetch(index, signal);
    this.#held = index;
  }

  async #fetch(index: number, signal: AbortSignal | undefined): Promise<void> {
    const http = await this.#online(signal);
    await http.readInto(this.#bytes, index * this.#entry.chunkBytes, signal);
    if (!(await this.#chunks.mayReplace(index, this.#bytes))) throw await this.#outdated();
    if (!(await this.#isAsStated(index, signal))) {
      const { address } = this.#entry;
      await this.#store.remove(address, this.#entry);
      const message = `${address}: what arrived has not the SHA-256 that the server states`;
      throw new OutriderError('download-failed', message, 'It is not kept: load it again.');
    }
    await this.#store.keep(() => this.#chunks.write(index, this.#bytes));
    const isLast = this.#entry.version.startsWith(OWN) && this.#chunks.complete;
    // A file that was written to while it was sent looks whole: a look at a few places is what can be done.
    if (isLast && this.#chunks.count > 1 && !(await this.isCurrent(signal))) {
      await this.#store.remove(this.#entry.address, this.#entry);
      throw changed(this.#entry.address);
    }
  }

  /** With the chunk that is held, `last`, the file is whole: it must be what the server says, so that no damage is kept. */
  async #isAsStated(last: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { check } = this.#store;
    if (!check || !this.#chunks.lacksOnly(last)) return true;
    const stated = await check.stated(this.#entry.address, signal);
    if (stated === null) return true;
    const hash = check.hash();
    for (let index = 0; index < this.#chunks.count; index++) {
      checkAborted(signal);
      const bytes = index === last ? this.#bytes : new Uint8Array(this.#chunks.length(index));
      // A damaged chunk is fetched again, and is then the last one.
      if (index !== last && !(await this.#chunks.read(index, bytes))) return true;
      hash.update(bytes);
    }
    return hash.digest('hex') === stated;
  }

  /** Whether the server's file has the same length, and the same bytes at both ends and in places between. */
  async isCurrent(signal: AbortSignal | undefined): Promise<boolean> {
    const { address, size } = this.#entry;
    for (let i = 0; i < SAMPLES; i++) {
      const place = i === 0 ? 0 : i === 1 ? 1 : Math.random();
      const start = Math.floor(place * Math.max(0, size - SAMPLE_BYTES));
      const options = { ...this.#options, signal, onBytes: undefined };
      const sample = await HttpSource.sample(address, size, start, SAMPLE_BYTES, options);
      if (!sample) return false;
      const kept = new Uint8Array(sample.bytes.length);
      for (let at = 0; at < kept.length; ) {
        const index = Math.floor((sample.at + at) / this.#entry.chunkBytes);
        const chunk = new Uint8Array(this.#chunks.length(index));
        if (!(await this.#chunks.read(index, chunk))) return false;
        const part = chunk.subarray(sample.at + at - index * this.#entry.chunkBytes).subarray(0, kept.length - at);
        kept.set(part, at);
        at += part.length;
      }
      if (kept.some((byte, j) => byte !== sample.bytes[j])) return false;
    }
    return true;
  }

  /** A complete file needs no connection, unless a chunk of it turns out to be damaged. */
  async #online(signal: AbortSignal | undefined): Promise<HttpSource> {
    if (this.#http) return this.#http;
    const { address, size, version } = this.#entry;
    const http = await HttpSource.open(address, { ...this.#options, signal });
    if (http?.size !== size || http.version !== (version.startsWith(OWN) ? '' : version)) {
      http?.[Symbol.dispose]();
      throw await this.#outdated();
    }
    this.#http = http;
    if (this.#closed) http[Symbol.dispose]();
    return http;
  }

  async #outdated(): Promise<OutriderError> {
    const { address } = this.#entry;
    await this.#store.remove(address, this.#entry);
    const message = `${address}: the stored copy is damaged and the file has changed`;
    return new OutriderError('download-failed', message, 'Load it again.');
  }

  release(): void {
    this.#http?.release();
  }

  [Symbol.dispose](): void {
    this.#http?.[Symbol.dispose]();
    this.#closed = true;
    this.#bytes = new Uint8Array(0);
    this.#held = -1;
  }
}
