import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bad } from '../../base/refuse.ts';
import { DiskFolder } from '../../testing/files/disk-folder.ts';
import { type FileServer, serveFiles } from '../../testing/servers/file-server.ts';
import { readBytes } from './byte-source.ts';
import { openBrowserStore, Store, type StoreOptions } from './store.ts';
import { modelOf } from './stored-models.ts';

const CHUNK = 1000;
const file = Uint8Array.from({ length: 10_500 }, (_, i) => (i * 2654435761) >>> 24);
const timing = { backoff: 0, stall: 30_000 };
let server: FileServer;
let address: string;
let folder: DiskFolder;
beforeAll(async () => {
  server = await serveFiles({});
  address = `${server.address}model.gguf`;
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.files.clear();
  server.files.set('model.gguf', file);
  server.behave();
  server.onRequest = () => {};
  server.requests.length = 0;
  server.sent = 0;
  folder = new DiskFolder(mkdtempSync(join(tmpdir(), 'outrider-store-')));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder.path, { recursive: true });
});

/** As a new page would have it. */
const newStore = (): Store => new Store(folder, { chunkBytes: CHUNK });
const load = async (store = newStore(), options: StoreOptions = {}): Promise<Uint8Array> => {
  using source = await store.open(address, { timing, ...options });
  if (!source) throw new Error('not found');
  const bytes = new Uint8Array(source.size);
  // Pieces that do not fall on chunks.
  for (let at = 0; at < bytes.length; at += 777)
    await source.readInto(bytes.subarray(at, Math.min(bytes.length, at + 777)), at, options.signal);
  return bytes;
};
const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
/** Paths of all chunks, in order. */
const chunks = (): string[] =>
  readdirSync(folder.path, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\d+\.[0-9a-f]{64}$/.test(path))
    .map((path) => join(folder.path, path))
    .sort((a, b) => Number(/(\d+)\.[0-9a-f]+$/.exec(a)?.[1]) - Number(/(\d+)\.[0-9a-f]+$/.exec(b)?.[1]));

describe('a stored file', () => {
  it('is downloaded in one request and then needs none', async () => {
    expect(same(await load(), file)).toBe(true);
    expect(server.requests).toHaveLength(1);
    expect(chunks()).toHaveLength(11);
    expect(same(await load(), file)).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it('is asked for again only when told to, and replaced when it has changed', async () => {
    await load();
    expect(same(await load(newStore(), { revalidate: true }), file)).toBe(true);
    expect(server.requests).toHaveLength(2);
    const changed = file.slice(0, 5500).reverse();
    server.files.set('model.gguf', changed);
    server.behave({ etag: '"2"' });
    expect(same(await load(), file)).toBe(true);
    expect(same(await load(newStore(), { revalidate: true }), changed)).toBe(true);
    expect(server.requests).toHaveLength(3);
    expect(same(await load(), changed)).toBe(true);
    expect(server.requests).toHaveLength(3);
    expect(chunks()).toHaveLength(6);
  });

  it('stays when another tab still reads the version before: that one alone is given up', async () => {
    await load();
    using before = await newStore().open(address, { timing });
    const changed = file.slice(0, 5500).reverse();
    server.files.set('model.gguf', changed);
    server.behave({ etag: '"2"' });
    expect(same(await load(newStore(), { revalidate: true }), changed)).toBe(true);
    await expect(readBytes(before as NonNullable<typeof before>, 0, file.length)).rejects.toThrow('file has changed');
    const asked = server.requests.length;
    expect(same(await load(), changed)).toBe(true);
    expect(server.requests).toHaveLength(asked);
  });

  it('that is closed while it is read ends the read', async () => {
    const source = await newStore().open(address, { timing });
    const read = source?.readInto(new Uint8Array(file.length), 0);
    source?.[Symbol.dispose]();
    await expect(read).rejects.toMatchObject({ code: 'aborted' });
    expect(server.requests).toHaveLength(1);
  });

  it('can be removed', async () => {
    await load();
    await newStore().remove(address);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('that is not there is remembered only when a model may lack it', async () => {
    const absent = `${server.address}index.json`;
    expect(await newStore().open(absent)).toBeNull();
    expect(await newStore().open(absent, { optional: true })).toBeNull();
    expect(server.requests).toHaveLength(2);
    expect(await newStore().open(absent)).toBeNull();
    expect(server.requests).toHaveLength(2);
    server.files.set('index.json', new Uint8Array(5));
    using found = await newStore().open(absent, { revalidate: true });
    expect(found?.size).toBe(5);
  });

  it('that was not there is asked for again after an hour, and is absent still where nothing answers', async () => {
    const absent = `${server.address}index.json`;
    const open = async (store = newStore()): Promise<number | undefined> => {
      using found = await store.open(absent, { timing, optional: true });
      return found?.size;
    };
    const begin = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: begin });
    expect(await open()).toBeUndefined();
    vi.setSystemTime(begin + 3_500_000);
    server.files.set('index.json', new Uint8Array(5));
    expect(await open()).toBeUndefined();
    expect(server.requests).toHaveLength(1);
    vi.setSystemTime(begin + 3_700_000);
    server.behave({ status: 500 });
    const store = newStore();
    expect([await open(store), await open(store)]).toEqual([undefined, undefined]);
    expect(store.notice).toBeNull();
    expect(server.requests).toHaveLength(2);
    server.behave();
    expect(await open()).toBe(5);
  });

  it('in whose place a page was sent is asked for each time, and may be absent without the server', async () => {
    const absent = `${server.address}index.json`;
    const optional = { timing, optional: true };
    server.behave({ pageForMissing: true });
    expect(await newStore().open(absent, optional)).toBeNull();
    server.behave({ status: 500 });
    expect(await newStore().open(absent, optional)).toBeNull();
    server.behave();
    server.files.set('index.json', new Uint8Array(5));
    using found = await newStore().open(absent, optional);
    expect(found?.size).toBe(5);
  });
});

describe('a file whose server names no version', () => {
  const other = file.toReversed();
  beforeEach(() => server.behave({ etag: null }));

  it('is not continued by a later download: the file may have changed', async () => {
    {
      using source = await newStore().open(address, { timing }); // a preflight reads the header alone
      await source?.readInto(new Uint8Array(4500), 0);
    }
    expect(chunks()).toHaveLength(5);
    server.files.set('model.gguf', other);
    expect(same(await load(), other)).toBe(true);
    expect(same(await load(), other)).toBe(true);
    expect(chunks()).toHaveLength(11);
  });

  it('is kept while length and samples are the same', async () => {
    await load();
    let arrived = 0;
    const revalidate = { revalidate: true, onBytes: (bytes: number) => (arrived += bytes) };
    expect(same(await load(newStore(), revalidate), file)).toBe(true);
    expect(arrived).toBe(0);
    for (const changed of [other, file.slice(0, 9000)]) {
      server.files.set('model.gguf', changed);
      expect(same(await load(newStore(), { revalidate: true }), changed)).toBe(true);
      expect(same(await load(), changed)).toBe(true);
    }
  });

  it('that is written to while it is sent is refused', async () => {
    const mixed = Uint8Array.from([...file.subarray(0, 5000), ...other.subarray(5000)]);
    server.files.set('model.gguf', mixed); // as a reader of the file in place would get it
    server.onRequest = () => {
      if (server.requests.length === 1) server.files.set('model.gguf', other);
    };
    await expect(load()).rejects.toThrow(/changed while it was downloaded/);
    server.onRequest = () => {};
    expect(same(await load(), other)).toBe(true);
  });

  it('heals a damaged chunk from the same file, and from no other', async () => {
    await load();
    truncateSync(chunks()[4] as string);
    expect(same(await load(), file)).toBe(true);
    truncateSync(chunks()[4] as string);
    server.files.set('model.gguf', other);
    await expect(load()).rejects.toThrow(/damaged and the file has changed/);
    expect(same(await load(), other)).toBe(true);
  });
});

describe('interruptions', () => {
  it('at any byte cost at most the chunk under way, and nothing half is ever seen', async () => {
    for (let cut = 0; cut <= file.length; cut += 269) {
      // The page dies after `cut` bytes have come in: its server answers nothing more.
      server.behave({ dropAfter: cut });
      await load(newStore(), { onBytes: () => server.behave({ status: 403 }) }).catch(() => {});
      const whole = Math.floor(cut / CHUNK);
      expect(chunks().length).toBeGreaterThanOrEqual(Math.min(whole, 10));
      for (const [i, path] of chunks().entries())
        expect(same(readFileSync(path), file.subarray(i * CHUNK, (i + 1) * CHUNK))).toBe(true);
      const kept = chunks().reduce((sum, path) => sum + readFileSync(path).length, 0);
      server.behave();
      server.requests.length = 0;
      let arrived = 0;
      expect(same(await load(newStore(), { onBytes: (bytes) => (arrived += bytes) }), file)).toBe(true);
      expect(arrived).toBe(file.length - kept);
      await newStore().remove(address);
    }
  });

  it('a page that dies while writing leaves an empty file, a swap file, or half of one: all are replaced', async () => {
    await load();
    const [first, second, , fourth] = chunks() as [string, string, string, string];
    truncateSync(first);
    truncateSync(second, 500);
    writeFileSync(`${fourth}.abc.crswap`, 'half');
    server.requests.length = 0;
    let arrived = 0;
    expect(same(await load(newStore(), { onBytes: (bytes) => (arrived += bytes) }), file)).toBe(true);
    expect(arrived).toBe(2 * CHUNK);
    expect(same(await load(), file)).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it('a damaged bit is noticed and the chunk fetched again', async () => {
    await load();
    const path = chunks()[4] as string;
    const bytes = readFileSync(path);
    bytes[17] = (bytes[17] as number) ^ 4;
    writeFileSync(path, bytes);
    let arrived = 0;
    expect(same(await load(newStore(), { onBytes: (count) => (arrived += count) }), file)).toBe(true);
    expect(arrived).toBe(CHUNK);
  });

  it('a damaged chunk of a file that has changed meanwhile is an error, and the next load is whole', async () => {
    await load();
    truncateSync(chunks()[4] as string);
    server.behave({ etag: '"2"' });
    await expect(load()).rejects.toThrow(/damaged and the file has changed/);
    expect(same(await load(), file)).toBe(true);
  });

  it('abort: what is whole stays', async () => {
    const controller = new AbortController();
    let arrived = 0;
    const onBytes = (bytes: number): void => {
      arrived += bytes;
      if (arrived === 4500) controller.abort();
    };
    server.behave({ stallAfter: 4500 });
    const loading = load(newStore(), { signal: controller.signal, onBytes });
    await expect(loading).rejects.toMatchObject({ code: 'aborted' });
    expect(chunks()).toHaveLength(4);
  });
});

describe('a server that does not answer', () => {
  const revalidate = { revalidate: true };

  it.each([500, 403])('with %i does not stop the load of a whole copy, which says so', async (status) => {
    await load();
    await newStore().open(`${server.address}index.json`, { optional: true });
    server.behave({ status });
    server.requests.length = 0;
    const store = newStore();
    expect(same(await load(store, revalidate), file)).toBe(true);
    expect(await store.open(`${server.address}index.json`, { timing, ...revalidate })).toBeNull();
    // One that fails is asked once, and one that refuses a file may still have others.
    expect(server.requests).toHaveLength(status === 500 ? 1 : 2);
    const { host } = new URL(address);
    const used = 'Stored copies are used, and whether they are current is not known';
    const [first, last] = [`the server answers ${status}. ${used}: ${host}/model.gguf`, `${host}.`];
    expect(store.notice).toContain(first);
    expect(store.notice?.endsWith(`, ${last}`)).toBe(true); // index.json is of the folder at the root
    server.behave();
    if (status === 500) return;
    await load(store, revalidate);
    expect(store.notice).not.toContain('model.gguf'); // it was asked by now
  });

  it('is no hindrance without a version either, and where the server is gone', async () => {
    server.behave({ etag: null });
    await load();
    server.behave({ status: 500 });
    expect(same(await load(newStore(), revalidate), file)).toBe(true);
    server.behave({ etag: null });
    const own = await serveFiles({ 'model.gguf': file });
    const there = `${own.address}model.gguf`;
    const read = async (store: Store): Promise<Uint8Array> => {
      using source = await store.open(there, { timing, ...revalidate });
      return await readBytes(source as NonNullable<typeof source>, 0, file.length);
    };
    expect(same(await read(newStore()), file)).toBe(true);
    await own[Symbol.asyncDispose]();
    const store = newStore();
    expect(same(await read(store), file)).toBe(true);
    expect(store.notice).toContain('no answer. Stored copies are used');
  });

  it('ends the load of a copy that is not whole, and an abort ends any', async () => {
    await load();
    await expect(load(newStore(), { ...revalidate, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted',
    });
    rmSync(chunks()[3] as string);
    server.behave({ status: 500 });
    await expect(load(newStore(), revalidate)).rejects.toMatchObject({ code: 'download-failed' });
  });
});

describe('what arrived damaged', () => {
  const wrong = file.with(5000, (file[5000] as number) ^ 1);
  const stated = createHash('sha256').update(file).digest('hex');
  const checking = (answer: string | null): Store =>
    new Store(folder, {
      chunkBytes: CHUNK,
      check: { stated: async () => answer, hash: () => createHash('sha256') },
    });

  it('is not kept where the server states the SHA-256 of the file', async () => {
    server.files.set('model.gguf', wrong);
    await expect(load(checking(stated))).rejects.toMatchObject({
      code: 'download-failed',
      message: `${address}: what arrived has not the SHA-256 that the server states`,
    });
    expect(readdirSync(folder.path)).toEqual([]);
    server.files.set('model.gguf', file);
    expect(same(await load(checking(stated)), file)).toBe(true);
    expect(chunks()).toHaveLength(11);
    server.files.set('model.gguf', wrong);
    expect(same(await load(checking(stated)), file)).toBe(true); // not asked again
    await newStore().remove(address);
    expect(same(await load(checking(null)), wrong)).toBe(true);
  });

  it('is checked with the chunks of an earlier, broken download', async () => {
    server.files.set('model.gguf', wrong);
    {
      using source = await checking(stated).open(address, { timing });
      await source?.readInto(new Uint8Array(6000), 0);
    }
    expect(chunks()).toHaveLength(6);
    server.files.set('model.gguf', file);
    await expect(load(checking(stated))).rejects.toThrow(/SHA-256/);
    expect(same(await load(checking(stated)), file)).toBe(true);
  });

  it('and is stored is what a failed load says how to delete', async () => {
    const error = bad('a tensor is wrong', 'Look.');
    expect(await newStore().explain(error, address)).toBe(error);
    await load();
    const name = `${new URL(address).host}/model.gguf`;
    expect(await newStore().explain(error, address)).toMatchObject({
      code: 'bad-checkpoint',
      message: 'a tensor is wrong',
      hint: `Look. If the file itself is right, its stored copy is damaged. Delete it among the stored models, or by deleteStored('${name}'), then load it again.`,
    });
    const own = new Store(folder, { chunkBytes: CHUNK, deletion: (model) => `Run del ${model}` });
    expect(await own.explain(error, address)).toMatchObject({ hint: expect.stringContaining(`Run del ${name}, then`) });
    expect(await own.explain(error, `${server.address}other.gguf`)).toBe(error);
    const other = new Error('no fault of the file');
    expect(await own.explain(other, address)).toBe(other);
  });
});

it('what an earlier layout stored is removed unused, and other files in the folder are not', async () => {
  // Layout 1 named entry and folder by the same hashes, without a prefix.
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const entry = { address, size: file.length, version: '"1"', chunkBytes: CHUNK };
  const old = hash(Object.values(entry).join('\n')).slice(0, 32);
  const pointer = `${hash(address).slice(0, 32)}.json`;
  const wrong = file.toReversed();
  mkdirSync(join(folder.path, old));
  for (let i = 0; i * CHUNK < wrong.length; i++) {
    const chunk = wrong.subarray(i * CHUNK, (i + 1) * CHUNK);
    writeFileSync(join(folder.path, old, `${i}.${createHash('sha256').update(chunk).digest('hex')}`), chunk);
  }
  const text = JSON.stringify(entry);
  writeFileSync(join(folder.path, pointer), `${hash(text)}\n${text}`);
  const others = [hash('a folder of the user').slice(0, 32), `${hash('a file of the user').slice(0, 32)}.json`];
  mkdirSync(join(folder.path, others[0] as string));
  writeFileSync(join(folder.path, others[1] as string), '{}');
  expect(same(await load(), file)).toBe(true);
  expect(server.requests).toHaveLength(1);
  const names = readdirSync(folder.path);
  expect(names).toEqual(expect.arrayContaining(others));
  expect(names).not.toContain(old);
  expect(names).not.toContain(pointer);
});

it('a folder below one that can never be made is given up at once', async () => {
  const store = new Store(new DiskFolder('/proc/nope/inside'), { chunkBytes: CHUNK });
  expect(same(await load(store), file)).toBe(true);
  expect(store.notice).toMatch(/Storing failed/);
});

describe('the list of stored models', () => {
  const get = async (path: string, length: number, upTo = length): Promise<void> => {
    server.files.set(path.replace(/\?.*/, ''), file.slice(0, length));
    using source = await newStore().open(server.address + path, { timing });
    await source?.readInto(new Uint8Array(upTo), 0);
  };
  const host = (): string => new URL(server.address).host;

  it('has folders and .gguf files with what is stored of them', async () => {
    expect(await newStore().list()).toEqual([]);
    await get('models/tiny/config.json', 10);
    await get('models/tiny/model.safetensors?key=secret', 5500);
    await get('models/tiny/onnx/model.onnx', 100);
    await newStore().open(`${server.address}models/tiny/absent.json`, { optional: true });
    await newStore().open(`${server.address}models/nothing/absent.json`, { optional: true });
    await get('big-00001-of-00002.gguf', 3000);
    await get('big-00002-of-00002.gguf', 3000, 1500);
    const big = { name: `${host()}/big.gguf`, address: `${server.address}big.gguf`, bytes: 5000, complete: false };
    const tiny = { name: `${host()}/models/tiny`, address: `${server.address}models/tiny` };
    expect(await newStore().list()).toEqual([big, { ...tiny, bytes: 5610, complete: true }]);
  });

  it('shrinks when a model is deleted, which is then downloaded anew', async () => {
    await get('a/model.safetensors', 2000);
    await get('b/model.safetensors', 3000);
    expect(await newStore().delete(`${host()}/a`)).toMatchObject({ bytes: 2000 });
    expect((await newStore().list()).map(({ name }) => name)).toEqual([`${host()}/b`]);
    await expect(newStore().delete(`${host()}/a`)).rejects.toMatchObject({
      code: 'bad-request',
      message: `no stored model is called "${host()}/a"`,
      hint: `There are: ${host()}/b.`,
    });
    server.requests.length = 0;
    await get('a/model.safetensors', 2000);
    expect(server.requests).toHaveLength(1);
    await newStore().delete(`${host()}/a`);
    await newStore().delete(`${host()}/b`);
    expect(readdirSync(folder.path)).toEqual([]);
    await expect(newStore().delete('any')).rejects.toMatchObject({ hint: 'No model is stored.' });
  });

  it.each([
    ['https://huggingface.co/owner/name/resolve/main/config.json', 'owner/name'],
    ['https://huggingface.co/owner/name/resolve/v2/onnx/model.onnx', 'owner/name@v2'],
    ['https://huggingface.co/owner/name/resolve/main/q4/m-00001-of-00003.gguf', 'owner/name/q4/m.gguf'],
    ['https://a.test/my%20models/x/1_Pooling/config.json', 'a.test/my models/x'],
    ['https://a.test/100%/config.json', 'a.test/100%'],
    ['http://localhost:8080/config.json', 'localhost:8080'],
  ])('calls %s %s', (address, name) => {
    expect(modelOf(address).name).toBe(name);
  });
});

describe('without storage', () => {
  it('everything works, and the store says so', async () => {
    const store = new Store(null);
    expect(store.notice).toMatch(/no storage/);
    expect(same(await load(store), file)).toBe(true);
    // Node has no OPFS at all, and is no browser.
    expect((await openBrowserStore()).notice).toBe('There is no storage here: models are downloaded anew each time.');
    vi.stubGlobal('isSecureContext', true);
    expect((await openBrowserStore()).notice).toMatch(/^This browser offers no storage here/);
    vi.unstubAllGlobals();
  });

  it('a disk that fills up ends the storing, not the download', async () => {
    let room = 3500;
    folder.onWrite = (bytes) => {
      room -= bytes;
      if (room < 0) throw new DOMException('disk full', 'QuotaExceededError');
    };
    const store = newStore();
    expect(same(await load(store), file)).toBe(true);
    expect(store.notice).toMatch(/disk full/);
    expect(chunks().filter((path) => readFileSync(path).length > 0)).toHaveLength(3);
    folder.onWrite = () => {};
    expect(same(await load(), file)).toBe(true);
    server.requests.length = 0;
    expect(same(await load(), file)).toBe(true);
    expect(server.requests).toHaveLength(0);
  });

  it('after a model was deleted, downloads are stored again', async () => {
    const store = newStore();
    await load(store);
    folder.onWrite = () => {
      throw new DOMException('disk full', 'QuotaExceededError');
    };
    server.files.set('other.gguf', file.slice(0, 2000));
    using source = await store.open(`${server.address}other.gguf`, { timing });
    await source?.readInto(new Uint8Array(2000), 0);
    expect(store.notice).toMatch(/disk full/);
    folder.onWrite = () => {};
    await store.delete(`${new URL(server.address).host}/model.gguf`);
    expect(store.notice).toBeNull();
    await load(store);
    expect(chunks()).toHaveLength(11);
  });

  it('a model that is deleted while it is downloaded does not end the storing of others', async () => {
    let written = 0;
    folder.onWrite = () => {
      if (++written > 3) throw new DOMException('the folder was removed', 'NotFoundError');
    };
    const store = newStore();
    expect(same(await load(store), file)).toBe(true);
    expect(store.notice).toBeNull();
    expect(await store.note('key', 'text')).toBe(false);
    folder.onWrite = () => {};
    expect(await store.note('key', 'text')).toBe(true);
  });

  it('a broken storage is noticed on opening', async () => {
    const store = new Store(new DiskFolder(join(folder.path, 'file', 'inside')), { chunkBytes: CHUNK });
    writeFileSync(join(folder.path, 'file'), ''); // no folder can be made in a file
    expect(same(await load(store), file)).toBe(true);
    expect(store.notice).toMatch(/Storing failed/);
  });

  it('two loads of one file at once agree', async () => {
    const store = newStore();
    const both = await Promise.all([load(store), load(store)]);
    expect(both.every((bytes) => same(bytes, file))).toBe(true);
    using source = await store.open(address);
    expect(same(await readBytes(source as NonNullable<typeof source>, 0, file.length), file)).toBe(true);
    expect(server.requests).toHaveLength(2);
  });
});
