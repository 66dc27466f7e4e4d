// Downloads under every fault at once, from seeds: connections cut anywhere, files that change between connections,
// servers with and without versions and ranges, pages that die, damage at rest, eviction, full disks, two tabs. Every
// byte that is read belongs to one version of the file, or the load ends with an error that has a name.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OutriderError } from '../../base/errors.ts';
import { random } from '../../testing/device/matrix.ts';
import { DiskFolder } from '../../testing/files/disk-folder.ts';
import { type FileServer, serveFiles } from '../../testing/servers/file-server.ts';
import { Store } from './store.ts';

/** With a store that mixed versions, 21 of 200 seeds read bytes of two. */
const SEEDS = process.env.OUTRIDER_FULL === '1' ? 200 : 120;
const CHUNK = 30_000;
const timing = { backoff: 0, stall: 30_000 };
const counts = { cuts: 0, changes: 0, damages: 0, full: 0, healed: 0, refused: 0 };
let server: FileServer;
beforeAll(async () => {
  server = await serveFiles({});
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  console.info(`cuts.test.ts: ${JSON.stringify(counts)}`);
});

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/**
 * Damages or removes one thing in the store, as a failing disk or an evicting browser would. A thing that another tab
 * writes or removes at this very moment stays as that tab leaves it: the system refuses to touch it.
 */
const damage = (folder: string, next: () => number): void => {
  try {
    damageOne(folder, next);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
};

const damageOne = (folder: string, next: () => number): void => {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path));
  const path = paths[Math.floor(next() * paths.length)];
  if (!path) return;
  counts.damages++;
  const isFolder = statSync(path).isDirectory();
  const kind = Math.floor(next() * 3);
  if (isFolder || kind === 0) rmSync(path, { recursive: true });
  else if (kind === 1) truncateSync(path, Math.floor(next() * statSync(path).size));
  else {
    const bytes = readFileSync(path);
    const at = Math.floor(next() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(next() * 8));
    writeFileSync(path, bytes);
  }
};

it.each(Array.from({ length: SEEDS }, (_, seed) => seed))('seed %i', async (seed) => {
  const next = random(seed + 1);
  const below = (n: number): number => Math.floor(next() * n);
  const chance = (share: number): boolean => next() < share;
  const folder = new DiskFolder(mkdtempSync(join(tmpdir(), 'outrider-cuts-')));
  const first = Uint8Array.from({ length: 1 + below(200_000) }, () => below(256));
  // The later version may have another length, and may differ from some byte on only.
  const from = chance(0.5) ? 0 : below(first.length);
  const second = first.slice(0, chance(0.3) ? 1 + below(first.length) : first.length);
  for (let i = from; i < second.length; i++) second[i] = (first[i] as number) ^ 1;
  const names = chance(0.5);
  const ranges = chance(0.7);
  let now = first;
  let calm = false;
  let dead = false;
  server.onRequest = () => {
    const changes = !calm && now === first && chance(0.15);
    if (changes) {
      counts.changes++;
      now = second;
    }
    const cut = !calm && chance(0.6);
    if (cut) counts.cuts++;
    server.files.set('model.gguf', now);
    const etag = names ? (now === first ? '"1"' : '"2"') : null;
    server.behave({ etag, ranges, ...(cut && { dropAfter: below(now.length) }), ...(dead && { status: 403 }) });
  };

  /** Reads as a loader does: a header, a pause without connection, then pieces; sometimes back again. */
  const read = async (store: Store, revalidate: boolean): Promise<Uint8Array | null> => {
    const seen: { at: number; bytes: Uint8Array }[] = [];
    const dies = !calm && chance(0.3) ? below(first.length) : Number.POSITIVE_INFINITY;
    let arrived = 0;
    const onBytes = (bytes: number): void => {
      arrived += bytes;
      if (arrived > dies) dead = true;
    };
    let size = -1;
    try {
      using source = await store.open(`${server.address}model.gguf`, { timing, revalidate, onBytes });
      if (!source) throw new Error('not found');
      size = source.size;
      const take = async (at: number, end: number): Promise<void> => {
        const bytes = new Uint8Array(Math.min(size, end) - at);
        await source.readInto(bytes, at);
        seen.push({ at, bytes });
      };
      await take(0, 8);
      if (chance(0.5)) source.release?.();
      for (let at = 0; at < size; ) {
        const end = Math.min(size, at + 1 + below(60_000));
        await take(at, end);
        if (!calm && chance(0.1)) damage(folder.path, next);
        if (chance(0.1)) await take(below(end), end);
        at = end;
      }
    } catch (error) {
      expect(error).toBeInstanceOf(OutriderError);
      expect((error as OutriderError).code).toBe('download-failed');
      counts.refused++;
      size = -1;
    } finally {
      dead = false;
    }
    const versions = [first, second].filter((version) =>
      seen.every(({ at, bytes }) => same(version.subarray(at, at + bytes.length), bytes)),
    );
    expect(versions).not.toEqual([]);
    if (size < 0) return null;
    const version = versions.find(({ length }) => length === size);
    expect(version).toBeDefined();
    return version ?? null;
  };
  const newStore = (): Store => new Store(folder, { chunkBytes: CHUNK });

  for (let session = 0; session < 2; session++) {
    let room = chance(0.2) ? below(200_000) : Number.POSITIVE_INFINITY;
    folder.onWrite = (bytes) => {
      room -= bytes;
      if (room >= 0) return;
      counts.full++;
      throw new DOMException('no room', 'QuotaExceededError');
    };
    if (chance(0.5)) await read(newStore(), chance(0.5));
    else await Promise.all([read(newStore(), chance(0.5)), read(newStore(), chance(0.5))]); // two tabs
    damage(folder.path, next);
  }

  calm = true;
  folder.onWrite = () => {};
  // A copy that is damaged where the server has another version by now is an error once, and gone.
  const healed = (await read(newStore(), false)) ?? (await read(newStore(), false));
  expect(healed).not.toBeNull();
  counts.healed++;
  // Asked for the current one: with a version it is, without one where a sample can tell.
  const current = await read(newStore(), true);
  expect(current).not.toBeNull();
  if (names || from === 0 || first.length !== second.length) expect(current).toBe(now);
  rmSync(folder.path, { recursive: true, force: true });
});

it('had every fault', () => {
  expect(counts.healed).toBe(SEEDS);
  expect(counts.cuts).toBeGreaterThan(SEEDS);
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(SEEDS / 10);
});
