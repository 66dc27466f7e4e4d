// Where a calibration that was made here goes, that new weights do not find it, and that each file is read once.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DiskFolder } from '../../testing/files/disk-folder.ts';
import { type FileServer, serveFiles } from '../../testing/servers/file-server.ts';
import { folderSource } from '../../weights/files/folder.ts';
import { Store } from '../../weights/files/store.ts';
import { openSidecar } from './sidecar.ts';

const FILE = 'calibration.json';
const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
let path: string;
let server: FileServer;
beforeEach(async () => {
  path = mkdtempSync(join(tmpdir(), 'outrider-sidecar-'));
  server = await serveFiles({ [FILE]: bytes({ version: 1 }) });
});
afterEach(async () => {
  rmSync(path, { recursive: true });
  await server[Symbol.asyncDispose]();
});

describe('what lies next to a model', () => {
  it('at an address: the file there, until one is made here for these very weights', async () => {
    const folder = new DiskFolder(path);
    const at = (version: string) => openSidecar({ kind: 'url', url: server.address }, version, new Store(folder));
    expect(await at('a').read(FILE)).toEqual({ version: 1 });
    expect(await at('a').read('other.json')).toBeNull();
    expect(await at('a').write(FILE, { version: 2 })).toBe(true);
    expect(await at('a').read(FILE)).toEqual({ version: 2 });
    expect(await at('b').read(FILE)).toEqual({ version: 1 });
  });

  it('where nothing more can be stored: known until the model is loaded anew', async () => {
    const folder = new DiskFolder(path);
    folder.onWrite = () => {
      throw new Error('the disk is full');
    };
    for (const store of [new Store(folder), new Store(null), undefined]) {
      const source = { kind: 'url', url: server.address } as const;
      const sidecar = openSidecar(source, 'a', store);
      expect(await sidecar.write(FILE, { version: 3 })).toBe(false);
      expect(await sidecar.read(FILE)).toEqual({ version: 3 });
      expect(await openSidecar(source, 'a', undefined).read(FILE)).toEqual({ version: 1 });
    }
  });

  it('in a folder: a file', async () => {
    const source = await folderSource(path);
    expect(await openSidecar(source, '', undefined).write(FILE, { version: 4 })).toBe(true);
    expect(JSON.parse(readFileSync(join(path, FILE), 'utf8'))).toEqual({ version: 4 });
    expect(await openSidecar(await folderSource(path), '', undefined).read(FILE)).toEqual({ version: 4 });
  });

  it('of one file in a folder, and of files in memory: nothing is written', async () => {
    const file = import.meta.filename;
    const sources = [await folderSource(file), { kind: 'bytes', files: new Map() } as const];
    for (const source of sources) {
      const sidecar = openSidecar(source, '', undefined);
      expect(await sidecar.write(FILE, { version: 5 })).toBe(false);
      expect(await sidecar.read(FILE)).toEqual({ version: 5 });
    }
  });

  it('is read once: from then on no server is asked', async () => {
    const sidecar = openSidecar({ kind: 'url', url: server.address }, 'a', undefined);
    for (let time = 0; time < 2; time++) {
      expect(await sidecar.read(FILE)).toEqual({ version: 1 });
      expect(await sidecar.read('other.json')).toBeNull();
    }
    expect(server.requests.map(({ path }) => path)).toEqual([FILE, 'other.json']);
  });

  it('is absent where the server refuses it, and then the server is not asked again', async () => {
    server.behave({ status: 403 });
    const sidecar = openSidecar({ kind: 'url', url: server.address }, 'a', undefined);
    expect(await sidecar.read(FILE)).toBeNull();
    server.behave();
    expect(await sidecar.read(FILE)).toBeNull();
  });

  it('is not waited for after an abort, and can be read later', async () => {
    server.behave({ stallAfter: 0 });
    const sidecar = openSidecar({ kind: 'url', url: server.address }, 'a', undefined);
    await expect(sidecar.read(FILE, AbortSignal.timeout(50))).rejects.toMatchObject({ code: 'aborted' });
    server.behave();
    expect(await sidecar.read(FILE)).toEqual({ version: 1 });
  });

  it('that is damaged says so each time it is read', async () => {
    server.files.set(FILE, new TextEncoder().encode('{'));
    const sidecar = openSidecar({ kind: 'url', url: server.address }, 'a', undefined);
    for (let time = 0; time < 2; time++)
      await expect(sidecar.read(FILE)).rejects.toMatchObject({ code: 'bad-checkpoint' });
    expect(server.requests).toHaveLength(1);
  });
});
