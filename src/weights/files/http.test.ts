import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FileServer, serveFiles } from '../../testing/servers/file-server.ts';
import { readBytes } from './byte-source.ts';
import { type HttpOptions, HttpSource } from './http.ts';

const file = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 2654435761) >>> 24);
let server: FileServer;
beforeAll(async () => {
  server = await serveFiles({ 'model.gguf': file, empty: new Uint8Array(0) });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.behave();
  server.requests.length = 0;
  server.sent = 0;
});

const timing = { backoff: 1, stall: 30_000 };
const open = async (name = 'model.gguf', options: HttpOptions = {}): Promise<HttpSource> => {
  const source = await HttpSource.open(server.address + name, { timing, ...options });
  if (!source) throw new Error('not found');
  return source;
};
/** The whole file in pieces, as a loader reads it. */
const readAll = async (source: HttpSource, piece = 100_000): Promise<Uint8Array> => {
  const bytes = new Uint8Array(source.size);
  for (let at = 0; at < bytes.length; at += piece)
    await source.readInto(bytes.subarray(at, Math.min(bytes.length, at + piece)), at);
  return bytes;
};
const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

it.each([true, false])('reads a file forwards in one request (ranges: %s)', async (ranges) => {
  server.behave({ ranges });
  let arrived = 0;
  using source = await open('model.gguf', { onBytes: (bytes) => (arrived += bytes) });
  expect(source.size).toBe(file.length);
  expect(same(await readAll(source), file)).toBe(true);
  expect(server.requests).toHaveLength(1);
  expect(arrived).toBe(file.length);
});

it.each([true, false])('goes back and far ahead with a new request (ranges: %s)', async (ranges) => {
  server.behave({ ranges });
  using source = await open();
  expect(same(await readBytes(source, 2_500_000, 2_600_000), file.subarray(2_500_000, 2_600_000))).toBe(true);
  expect(same(await readBytes(source, 10, 20), file.subarray(10, 20))).toBe(true);
  // A short gap is read over.
  expect(same(await readBytes(source, 50_000, 50_010), file.subarray(50_000, 50_010))).toBe(true);
  expect(server.requests.map(({ range }) => range)).toEqual(['bytes=0-', 'bytes=2500000-', 'bytes=10-']);
});

it('continues a transfer that breaks off, again and again, at the very byte', async () => {
  server.behave({ dropAfter: 400_000 });
  using source = await open();
  expect(same(await readAll(source), file)).toBe(true);
  expect(server.requests).toHaveLength(8);
  expect(server.sent).toBe(file.length);
});

it('starts over where the server knows no ranges, and gives up when nothing new comes', async () => {
  server.behave({ ranges: false, dropAfter: 400_000 });
  using source = await open();
  await expect(readAll(source)).rejects.toThrow(/broke at byte 400000 of 3000000, 5 times/);
  expect(server.requests).toHaveLength(5);
});

it('a connection that stalls counts as broken', async () => {
  server.behave({ stallAfter: 200_000 });
  using source = await open('model.gguf', { timing: { backoff: 1, stall: 500 } });
  server.behave({ stallAfter: 2_000_000 });
  expect(same(await readAll(source), file)).toBe(true);
  expect(server.requests.map(({ range }) => range)).toEqual(['bytes=0-', 'bytes=200000-', 'bytes=2200000-']);
});

it('tries again on 503, not on 403; knows 404', async () => {
  server.behave({ status: 503 });
  setTimeout(() => server.behave(), 20);
  using source = await open('model.gguf', { timing: { backoff: 50, stall: 2000 } });
  expect(source.size).toBe(file.length);
  server.requests.length = 0;
  server.behave({ status: 403 });
  await expect(open()).rejects.toMatchObject({ code: 'download-failed', message: expect.stringContaining('403') });
  expect(server.requests).toHaveLength(1);
  server.behave();
  expect(await HttpSource.open(`${server.address}absent`)).toBeNull();
});

it('refuses wrong lengths, wrong starts, files that change and files without a length', async () => {
  server.behave({ claimedSize: file.length + 1000 });
  {
    using source = await open();
    await expect(readAll(source)).rejects.toThrow(/at byte 3000000 of 3001000, 5 times/);
  }
  server.behave();
  {
    using source = await open();
    source.release();
    server.behave({ wrongStart: 7 });
    await expect(readBytes(source, 100, 200)).rejects.toThrow(/asked from byte 100, the server sends from 7/);
    server.behave({ etag: '"2"' });
    await expect(readBytes(source, 100, 200)).rejects.toThrow(/changed while it was downloaded/);
    server.behave({ status: 404 });
    await expect(readBytes(source, 100, 200)).rejects.toThrow(/no longer there/);
  }
  server.behave({ claimedSize: 2 ** 53 });
  await expect(open()).rejects.toThrow(/does not say how long/);
  server.behave({ ranges: false, chunked: true });
  await expect(open()).rejects.toThrow(/does not say how long/);
});

describe('a file whose server names no version', () => {
  it('is read again from the start after a break, and goes on when it is the same', async () => {
    server.behave({ etag: null, dropAfter: 1_500_000 });
    let arrived = 0;
    const onBytes = (bytes: number): void => {
      arrived += bytes;
      if (arrived > 1_000_000) server.behave({ etag: null });
    };
    using source = await open('model.gguf', { onBytes });
    expect(same(await readAll(source), file)).toBe(true);
    expect(server.requests.map(({ range }) => range)).toEqual(['bytes=0-', 'bytes=0-']);
    expect(arrived).toBe(file.length);
  });

  it.each([true, false])(
    'is an error when it has changed in between, with the same length (ranges: %s)',
    async (ranges) => {
      const other = file.map((byte, i) => (i < 1000 ? byte ^ 1 : byte));
      server.behave({ etag: null, ranges });
      using source = await open();
      expect(same(await readBytes(source, 0, 500_000), file.subarray(0, 500_000))).toBe(true);
      source.release();
      server.files.set('model.gguf', other);
      await expect(readBytes(source, 500_000, file.length)).rejects.toMatchObject({
        code: 'download-failed',
        message: expect.stringContaining('changed while it was downloaded'),
      });
      server.files.set('model.gguf', file);
    },
  );
});

it('reads an empty file and refuses to read past an end', async () => {
  using empty = await open('empty');
  expect(empty.size).toBe(0);
  await expect(empty.readInto(new Uint8Array(1), 0)).rejects.toMatchObject({ code: 'bad-checkpoint' });
});

it('no server: five tries, then the address is named', async () => {
  await expect(HttpSource.open('http://127.0.0.1:9/x', { timing })).rejects.toThrow(
    /127.0.0.1:9\/x: no answer, 5 times/,
  );
});

it('stops at once when aborted: while connecting, reading and waiting', async () => {
  const aborted = { code: 'aborted' };
  await expect(open('model.gguf', { signal: AbortSignal.abort() })).rejects.toMatchObject(aborted);
  expect(server.requests).toHaveLength(0);
  const first = new AbortController();
  using greedy = await open('model.gguf', { onBytes: () => first.abort() });
  await expect(greedy.readInto(new Uint8Array(file.length), 0, first.signal)).rejects.toMatchObject(aborted);
  expect(server.requests).toHaveLength(1);
  server.behave({ stallAfter: 200_000 });
  using source = await open();
  const reading = new AbortController();
  const read = source.readInto(new Uint8Array(file.length), 0, reading.signal);
  setTimeout(() => reading.abort(), 30);
  await expect(read).rejects.toMatchObject(aborted);
  server.behave({ status: 503 });
  const waiting = new AbortController();
  const opening = open('model.gguf', { signal: waiting.signal, timing: { backoff: 60_000, stall: 2000 } });
  setTimeout(() => waiting.abort(), 30);
  await expect(opening).rejects.toMatchObject(aborted);
});

it('that is closed while it is read ends the read, and asks the server for nothing more', async () => {
  server.behave({ stallAfter: 200_000 });
  const source = await open('model.gguf', { timing: { backoff: 1, stall: 500 } });
  const read = source.readInto(new Uint8Array(file.length), 0);
  setTimeout(() => source[Symbol.dispose](), 30);
  await expect(read).rejects.toMatchObject({ code: 'aborted' });
  await expect(source.readInto(new Uint8Array(1), 0)).rejects.toMatchObject({ code: 'aborted' });
  expect(server.requests).toHaveLength(1);
});

it('that is closed while it connects again reads nothing more', async () => {
  const source = await open();
  source.release();
  const read = source.readInto(new Uint8Array(file.length), 0);
  source[Symbol.dispose]();
  await expect(read).rejects.toMatchObject({ code: 'aborted' });
});
