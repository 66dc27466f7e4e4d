// Reads a file at an address as one long response while reads go forward, so that a model is one request. A response
// that breaks off is continued where it stopped (HTTP Range); from a server without Range the file is read from the
// start. Where the server names no version (ETag, Last-Modified), every connection reads from the start, and blocks
// that were read before must have the same digest: no two versions of a file are ever mixed.
import { checkAborted, OutriderError } from '../../base/errors.ts';
import { pause } from '../../base/pause.ts';
import { type ByteSource, readBytes, truncated } from './byte-source.ts';
import { sha256 } from './digest.ts';

export interface HttpOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes of every piece that arrives and is used. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Called when the server answers with a page instead of the file. */
  readonly onPage?: (() => void) | undefined;
  /** Tests shorten the waits. */
  readonly timing?: Partial<Timing> | undefined;
}

interface Timing {
  /** Before the second try; doubled before each further one. */
  readonly backoff: number;
  /** Without a byte for so long, a connection counts as broken. */
  readonly stall: number;
}

const TIMING: Timing = { backoff: 400, stall: 30_000 };
/** Tries without one new byte in between. */
const TRIES = 5;
/** A gap up to this long is read and thrown away rather than asked around: less than one round trip at 50 Mbit/s. */
const SKIP = 2 ** 20;
/** Bytes that are compared at once in a file without a version. Only whole blocks are used. */
const BLOCK = 2 ** 16;

/** Identifies the version of a file at an address; '' when the server states none. */
export type Version = string;

interface Connection {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly abort: AbortController;
  /** The place of the next unread byte in the file. */
  at: number;
  /** The unused rest of the last piece. */
  rest: Uint8Array;
  /** What has arrived of the next block, in a file without a version. */
  spare: Uint8Array;
}

const NONE = new Uint8Array(0);

/** A failure that may pass with another try. */
export class Interrupted extends Error {}

export class HttpSource implements ByteSource {
  readonly name: string;
  readonly #address: string;
  readonly #options: HttpOptions;
  readonly #timing: Timing;
  #connection: Connection | null = null;
  #closed = false;
  #size = -1;
  #version: Version | null = null;
  /** A sample stands alone, so no version is needed. */
  #sampling = false;
  /** Of the blocks read so far, in a file without a version. */
  readonly #digests: string[] = [];

  private constructor(address: string, options: HttpOptions) {
    this.#address = address;
    this.#options = options;
    this.#timing = { ...TIMING, ...options.timing };
    this.name = new URL(address).pathname.split('/').at(-1) || address;
  }

  /** Null when there is no file at the address. Makes the request that a read from the start continues. */
  static async open(address: string, options: HttpOptions = {}, tries = TRIES): Promise<HttpSource | null> {
    const source = new HttpSource(address, options);
    const connect = () => source.#connect(0, options.signal);
    return (await source.#retrying(options.signal, connect, () => 0, tries)) ? source : null;
  }

  /**
   * Up to `length` bytes over a connection of their own, and where they are: at 0 from a server without Range. Null
   * when the file is gone or has another size.
   */
  static async sample(
    address: string,
    size: number,
    start: number,
    length: number,
    options: HttpOptions = {},
  ): Promise<{ readonly at: number; readonly bytes: Uint8Array } | null> {
    using source = new HttpSource(address, options);
    source.#sampling = true;
    const found = await source.#retrying(options.signal, () => source.#connect(start, options.signal));
    if (!found || source.#size !== size) return null;
    const at = source.#connection?.at ?? start;
    return { at, bytes: await readBytes(source, at, Math.min(size, at + length), options.signal) };
  }

  get size(): number {
    return this.#size;
  }

  get version(): Version {
    return this.#version ?? '';
  }

  async readInto(target: Uint8Array, start: number, signal?: AbortSignal): Promise<void> {
    if (start + target.byteLength > this.#size) throw truncated(this.name, this.#size, start + target.byteLength);
    let filled = 0;
    await this.#retrying(
      signal,
      async () => {
        while (filled < target.length) {
          const piece = await this.#next(start + filled, target.length - filled, signal);
          target.set(piece, filled);
          filled += piece.length;
          this.#options.onBytes?.(piece.length);
        }
      },
      () => filled,
    );
  }

  release(): void {
    const connection = this.#connection;
    this.#connection = null;
    connection?.abort.abort();
  }

  /** Ends a read that is under way: it must not connect again. */
  [Symbol.dispose](): void {
    this.#closed = true;
    this.release();
  }

  #checkOpen(signal: AbortSignal | undefined): void {
    checkAborted(signal);
    if (this.#closed) throw new OutriderError('aborted', `${this.name} was closed while it was read`);
  }

  /** Runs `work` again after interruptions; the count of tries starts anew whenever `progress` grew. */
  async #retrying<T>(
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
    progress = () => 0,
    most = TRIES,
  ): Promise<T> {
    const drop = (): void => this.release();
    signal?.addEventListener('abort', drop);
    try {
      for (let tries = 1, before = progress(); ; tries++) {
        try {
          this.#checkOpen(signal);
          return await work();
        } catch (error) {
          this.release();
          this.#checkOpen(signal);
          if (!(error instanceof Interrupted)) throw error;
          if (progress() > before) tries = 1;
          before = progress();
          const often = most > 1 ? `, ${most} times` : '';
          if (tries >= most) throw failed(`${this.#address}: ${error.message}${often}`, error);
          await pause(this.#timing.backoff * 2 ** (tries - 1), signal);
        }
      }
    } finally {
      signal?.removeEventListener('abort', drop);
    }
  }

  /** Up to `most` bytes from `start` on. */
  async #next(start: number, most: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    // The progress callback may abort; then no read is pending that could fail.
    checkAborted(signal);
    const known = this.#connection;
    const byRange = this.#sampling || this.#version !== '';
    if (!known || known.at > start || (byRange && start - known.at > SKIP)) {
      this.release();
      if (!(await this.#connect(byRange ? start : 0, signal))) throw failed(`${this.#address}: it is no longer there`);
    }
    const connection = this.#connection as Connection;
    for (;;) {
      if (connection.rest.length === 0)
        connection.rest = await (byRange ? this.#piece(connection) : this.#block(connection));
      // A server without Range begins at 0: the bytes before `start` are thrown away.
      const skipped = Math.min(connection.rest.length, start - connection.at);
      const used = connection.rest.subarray(skipped, skipped + most);
      connection.rest = connection.rest.subarray(skipped + used.length);
      connection.at += skipped + used.length;
      if (used.length > 0) return used;
    }
  }

  /** The next block of a file without a version: the one that was read before, where it was. */
  async #block(connection: Connection): Promise<Uint8Array> {
    const block = new Uint8Array(Math.min(BLOCK, this.#size - connection.at));
    for (let filled = 0; filled < block.length; ) {
      if (connection.spare.length === 0) connection.spare = await this.#piece(connection);
      const part = connection.spare.subarray(0, block.length - filled);
      block.set(part, filled);
      filled += part.length;
      connection.spare = connection.spare.subarray(part.length);
    }
    const digest = await sha256(block);
    const index = connection.at / BLOCK;
    this.#digests[index] ??= digest;
    if (this.#digests[index] !== digest) throw changed(this.#address);
    return block;
  }

  async #piece(connection: Connection): Promise<Uint8Array> {
    const timer = setTimeout(() => connection.abort.abort(), this.#timing.stall);
    try {
      const { done, value } = await connection.reader.read();
      if (done) throw new Interrupted(`the transfer ended at byte ${connection.at} of ${this.#size}`);
      return value;
    } catch (error) {
      if (error instanceof Interrupted) throw error;
      throw new Interrupted(`the transfer broke at byte ${connection.at} of ${this.#size}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** False when there is no such file. */
  async #connect(start: number, signal: AbortSignal | undefined): Promise<boolean> {
    const abort = new AbortController();
    const stop = (): void => abort.abort();
    signal?.addEventListener('abort', stop);
    const timer = setTimeout(stop, this.#timing.stall);
    try {
      // `bytes=N-` is the one form of Range that a page may send to another origin without a preflight.
      const headers = { Range: `bytes=${start}-` };
      const response = await fetch(this.#address, { headers, signal: abort.signal, cache: 'no-store' }).catch(
        (cause) => {
          throw new Interrupted('no answer', { cause });
        },
      );
      if (this.#closed || !this.#check(response, start)) {
        abort.abort();
        return false;
      }
      const reader = response.body?.getReader() ?? new Blob([]).stream().getReader();
      this.#connection = { reader, abort, at: response.status === 206 ? start : 0, rest: NONE, spare: NONE };
      return true;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Takes size and version from the first response and holds later ones against them. */
  #check(response: Response, start: number): boolean {
    const { status, headers } = response;
    if (status === 404 || status === 410) return false;
    // Servers of single-page applications send their page for a missing file; no file of a model is a page.
    if (response.ok && headers.get('content-type')?.startsWith('text/html')) {
      this.#options.onPage?.();
      return false;
    }
    if (status >= 500 || status === 429 || status === 408) throw new Interrupted(`the server answers ${status}`);
    const range = /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(headers.get('content-range') ?? '');
    // An empty file has no byte 0 to begin with.
    const empty = status === 416 && start === 0 && range?.[2] === '0';
    if (status !== 200 && status !== 206 && !empty)
      throw failed(`${this.#address}: the server answers ${status}`, null, status);
    if (status === 206 && range?.[1] !== undefined && Number(range[1]) !== start)
      throw failed(`${this.#address}: asked from byte ${start}, the server sends from ${range[1]}`);
    const size = empty ? 0 : totalSize(headers, range?.[2], status === 206 ? start : 0);
    if (size === null) throw failed(`${this.#address}: the server does not say how long the file is`);
    const version = headers.get('etag') ?? headers.get('last-modified') ?? '';
    if (this.#version !== null && (size !== this.#size || version !== this.#version)) throw changed(this.#address);
    this.#size = size;
    this.#version = version;
    return true;
  }
}

/** A response from another origin may hide Content-Range, never Content-Length. */
const totalSize = (headers: Headers, total: string | undefined, start: number): number | null => {
  if (total !== undefined && total !== '*') return sizeOrNull(Number(total));
  // The length of a compressed response is not that of the file.
  if (headers.get('content-encoding')) return null;
  const length = headers.get('content-length');
  return length === null ? null : sizeOrNull(start + Number(length));
};

const sizeOrNull = (size: number): number | null => (Number.isSafeInteger(size) ? size : null);

export const changed = (address: string): OutriderError =>
  new OutriderError('download-failed', `${address}: the file changed while it was downloaded`, 'Load it again.');

const failed = (message: string, cause: unknown = null, status = 0): OutriderError => {
  const hint =
    status === 401 || status === 403
      ? 'The model may need an account or a licence to be accepted: download it and open the files instead.'
      : 'Check the address and the connection, and of a page also that the server allows it (CORS). What has arrived is ' +
        'kept where it can be stored.';
  return new OutriderError('download-failed', message, hint, { cause });
};
