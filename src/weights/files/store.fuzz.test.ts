// What is stored may be damaged by a disk, a browser or another program of the same origin. Entries and chunks are
// damaged byte by byte: what is read is the file, to the byte, or an error that has a name.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OutriderError } from '../../base/errors.ts';
import { DiskFolder } from '../../testing/files/disk-folder.ts';
import { inputs, Watch } from '../../testing/fuzz/inputs.ts';
import { mutateBytes } from '../../testing/fuzz/mutate-bytes.ts';
import { pick, random } from '../../testing/fuzz/random.ts';
import { type FileServer, serveFiles } from '../../testing/servers/file-server.ts';
import { Store } from './store.ts';

const SEED = 20_261_131;
const INPUTS = inputs(100);
const file = Uint8Array.from({ length: 700 }, (_, i) => (i * 2654435761) >>> 24);

let server: FileServer;
const folder = new DiskFolder(mkdtempSync(join(tmpdir(), 'outrider-store-fuzz-')));
beforeAll(async () => {
  server = await serveFiles({ 'model.gguf': file });
});
afterAll(async () => {
  rmSync(folder.path, { recursive: true });
  await server[Symbol.asyncDispose]();
});

const load = async (): Promise<Uint8Array> => {
  const store = new Store(folder, { chunkBytes: 300 });
  using source = await store.open(`${server.address}model.gguf`, { timing: { backoff: 0, stall: 5000 } });
  const bytes = new Uint8Array(source?.size ?? 0);
  await source?.readInto(bytes, 0);
  return bytes;
};

it(`${INPUTS} damaged stores: the file to the byte, or an error that names what is wrong`, async () => {
  const below = random(SEED);
  const watch = new Watch();
  let refused = 0;
  await load();
  for (let i = 0; i < INPUTS; i++) {
    const paths = readdirSync(folder.path, { recursive: true, encoding: 'utf8' })
      .map((path) => join(folder.path, path))
      .filter((path) => statSync(path).isFile());
    for (let changes = 1 + below(3); changes > 0; changes--) {
      const path = pick(paths, below);
      const whole = new Uint8Array(readFileSync(path));
      if (whole.length > 0) writeFileSync(path, mutateBytes(whole, whole.length, below));
    }
    try {
      await watch.input(async () => expect(Buffer.compare(await load(), file), `input ${i}`).toBe(0));
    } catch (error) {
      if (!(error instanceof OutriderError) || error.code === 'bug') throw error;
      refused++;
    }
  }
  expect(Buffer.compare(await load(), file)).toBe(0);
  console.log(`${INPUTS} damaged stores: ${refused} refused, ${watch}`);
  expect(refused).toBeLessThan(INPUTS / 2);
  watch.check();
}, 900_000);
