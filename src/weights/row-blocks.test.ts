// A stream that its reader leaves early must not read on: the next one would share its source with it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { DiskFolder } from '../testing/files/disk-folder.ts';
import { type FileServer, serveFiles } from '../testing/servers/file-server.ts';
import type { Checkpoint } from './checkpoint.ts';
import { Store } from './files/store.ts';
import { openCheckpoint } from './open.ts';

/** Tensors of several blocks each. */
const NAMES = ['a', 'b', 'c'] as const;
const SHAPE = [3000, 1024] as const;
const COUNT = SHAPE[0] * SHAPE[1];

const values = (tensor: number): Float32Array => Float32Array.from({ length: COUNT }, (_, i) => tensor * COUNT + i);

const written = (): Uint8Array => {
  const entries = NAMES.map((name, i) => {
    return [name, { dtype: 'F32', shape: SHAPE, data_offsets: [i * COUNT * 4, (i + 1) * COUNT * 4] }];
  });
  const header = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const file = new Uint8Array(8 + header.length + NAMES.length * COUNT * 4);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, 8);
  NAMES.forEach((_, i) => {
    file.set(new Uint8Array(values(i).buffer), 8 + header.length + i * COUNT * 4);
  });
  return file;
};

let server: FileServer;
let folder: DiskFolder;
beforeAll(async () => {
  server = await serveFiles({ 'config.json': new TextEncoder().encode('{}'), 'model.safetensors': written() });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  folder = new DiskFolder(mkdtempSync(join(tmpdir(), 'outrider-stream-')));
});
afterEach(() => rmSync(folder.path, { recursive: true }));

/** How many values of a tensor are wrong. */
const wrong = async (checkpoint: Checkpoint, name: string): Promise<number> => {
  const expected = values(NAMES.indexOf(name as (typeof NAMES)[number]));
  let [at, count] = [0, 0];
  for await (const block of checkpoint.stream({ wanted: (own) => own === name }))
    for (const value of block.decode()) if (value !== expected[at++]) count++;
  return count + expected.length - at;
};

const leave = async (checkpoint: Checkpoint, name: string): Promise<void> => {
  for await (const _ of checkpoint.stream({ wanted: (own) => own === name })) return;
};

test.each([true, false])('a stream that is left early does not disturb the next one (stored: %s)', async (stored) => {
  const open = () => {
    const source = { kind: 'url', url: server.address } as const;
    return openCheckpoint(source, stored ? { store: new Store(folder) } : {});
  };
  using checkpoint = await open();
  await leave(checkpoint, 'b');
  await leave(checkpoint, 'a');
  expect(await wrong(checkpoint, 'c')).toBe(0);
  for (const name of NAMES) expect(await wrong(checkpoint, name), name).toBe(0);
  using again = await open();
  for (const name of NAMES) expect(await wrong(again, name), `${name}, opened again`).toBe(0);
});
