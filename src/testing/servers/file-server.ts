// A real HTTP server on this machine that serves files from memory and misbehaves on request.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Behaviour {
  ranges: boolean;
  etag: string | null;
  /** Answers every request with this status. */
  status: number | null;
  /** Breaks the connection after so many bytes of a response. */
  dropAfter: number;
  /** Stops sending there, without closing. */
  stallAfter: number;
  /** Content-Length and Content-Range say this instead of the truth. */
  claimedSize: number | null;
  /** Sends from here whatever was asked. */
  wrongStart: number | null;
  chunked: boolean;
  /** Answers what it lacks with a page and status 200. */
  pageForMissing: boolean;
}

const GOOD: Behaviour = {
  ranges: true,
  etag: '"1"',
  status: null,
  dropAfter: Number.POSITIVE_INFINITY,
  stallAfter: Number.POSITIVE_INFINITY,
  claimedSize: null,
  wrongStart: null,
  chunked: false,
  pageForMissing: false,
};

export interface FileServer extends AsyncDisposable {
  readonly address: string;
  /** May be changed at any time. */
  readonly files: Map<string, Uint8Array>;
  behaviour: Behaviour;
  behave(changes?: Partial<Behaviour>): void;
  /** Of all responses so far: what was asked, and how many bytes of files were sent. */
  readonly requests: { path: string; range: string | null }[];
  sent: number;
  /** Called before each answer. */
  onRequest: () => void;
}

export const serveFiles = async (files: Record<string, Uint8Array>): Promise<FileServer> => {
  const http = createServer((request, response) => answer(server, request, response));
  const server: FileServer = {
    address: '',
    files: new Map(Object.entries(files)),
    behaviour: GOOD,
    behave(changes = {}) {
      this.behaviour = { ...GOOD, ...changes };
    },
    requests: [],
    sent: 0,
    onRequest: () => {},
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return Object.assign(server, { address: `http://127.0.0.1:${(http.address() as AddressInfo).port}/` });
};

const answer = (server: FileServer, request: IncomingMessage, response: ServerResponse): void => {
  server.onRequest();
  const { behaviour } = server;
  const path = decodeURIComponent(new URL(request.url ?? '', 'http://host').pathname.slice(1));
  const range = request.headers.range ?? null;
  server.requests.push({ path, range });
  const file = server.files.get(path);
  if (!file && behaviour.pageForMissing) {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
    return;
  }
  if (behaviour.status !== null || !file) {
    response.writeHead(behaviour.status ?? 404).end();
    return;
  }
  const asked = behaviour.ranges && range ? Number(/\d+/.exec(range)?.[0]) : 0;
  const start = behaviour.wrongStart ?? asked;
  const size = behaviour.claimedSize ?? file.length;
  const body = file.subarray(start);
  const validator: Record<string, string> = behaviour.etag ? { etag: behaviour.etag } : {};
  if (behaviour.ranges && range && file.length === 0) {
    response.writeHead(416, { 'content-range': 'bytes */0', ...validator }).end();
    return;
  }
  const length: Record<string, number> = behaviour.chunked ? {} : { 'content-length': size - start };
  if (behaviour.ranges && range)
    response.writeHead(206, { 'content-range': `bytes ${start}-${size - 1}/${size}`, ...length, ...validator });
  else response.writeHead(200, { ...length, ...validator });
  void send(server, body, response, size - start > body.length);
};

/** In pieces, waiting for the reader: a client that stops reading must stop the server too. */
const send = async (server: FileServer, body: Uint8Array, response: ServerResponse, short: boolean): Promise<void> => {
  const { dropAfter, stallAfter } = server.behaviour;
  response.setMaxListeners(0);
  const end = Math.min(body.length, dropAfter, stallAfter);
  for (let at = 0; at < end && !response.destroyed; at += 65536) {
    const piece = body.subarray(at, Math.min(end, at + 65536));
    server.sent += piece.length;
    if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
  }
  if (end < body.length && end === stallAfter) return;
  // The reader gets what was written first; then the connection breaks, as it does where less is there than claimed.
  if (end < body.length || short) response.write('', () => response.destroy());
  else response.end();
};
