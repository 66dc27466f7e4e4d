// A file server that tests can watch and interrupt: it serves ranges to other origins, records every request, and can
// break a connection in the middle of a file.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '..');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

export interface Request {
  readonly path: string;
  /** First byte asked for. */
  readonly start: number;
}

export class WatchedServer implements AsyncDisposable {
  readonly requests: Request[] = [];
  /** Bytes of bodies that were sent. */
  sent = 0;
  /** Files with the number of bytes that are sent before the connection breaks. */
  readonly cuts = new Map<string, number>();
  /** Files with the number of bytes that are sent before the connection falls silent. */
  readonly stalls = new Map<string, number>();
  /** Headers of every response. */
  readonly headers: Record<string, string> = {};
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://localhost:${(this.#server.address() as AddressInfo).port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    const file = join(this.#folder, path.endsWith('/') ? `${path}index.html` : path);
    for (const [name, value] of Object.entries(this.headers)) response.setHeader(name, value);
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Allow-Headers', 'Range');
    response.setHeader('Access-Control-Expose-Headers', 'Content-Range, Content-Length, ETag');
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    const start = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    this.requests.push({ path, start });
    if (!existsSync(file)) return void response.writeHead(404).end();
    const { size, mtimeMs } = statSync(file);
    response.setHeader('ETag', `"${size}-${Math.round(mtimeMs)}"`);
    response.setHeader('Accept-Ranges', 'bytes');
    response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream');
    response.setHeader('Content-Length', size - start);
    if (request.headers.range) response.setHeader('Content-Range', `bytes ${start}-${size - 1}/${size}`);
    response.writeHead(request.headers.range ? 206 : 200);
    const stall = this.stalls.get(path);
    if (stall !== undefined)
      return void createReadStream(file, { start, end: stall - 1 }).pipe(response, { end: false });
    const cut = this.cuts.get(path);
    if (cut === undefined) {
      const body = createReadStream(file, { start });
      body.on('data', ({ length }) => {
        this.sent += length;
      });
      return void body.pipe(response);
    }
    if (start >= cut) return void response.destroy();
    // The connection breaks only after the last bytes were handed to the system.
    createReadStream(file, { start, end: cut - 1 })
      .on('data', (chunk) => response.write(chunk))
      .on('end', () => response.write('', () => response.destroy()));
  }
}
