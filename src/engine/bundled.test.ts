// The bundled models against their digests and their cards, and what a load does with a file that differs.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { DiskFolder } from '../testing/files/disk-folder.ts';
import { serveFiles } from '../testing/servers/file-server.ts';
import { readBytes } from '../weights/files/byte-source.ts';
import { SERVE_BUNDLED } from '../weights/files/checked.ts';
import { sha256 } from '../weights/files/digest.ts';
import { Store } from '../weights/files/store.ts';
import { fileSet, openCheckpoint } from '../weights/open.ts';
import { BUNDLED, bundledSource } from './bundled.ts';
import { BUNDLED_DIGESTS, withDigests } from './bundled-digests.ts';

const folder = join(import.meta.dirname, '../../public/models');
/** A calibration may be written anew; the card describes the others. */
const filesOf = (model: string): string[] =>
  readdirSync(join(folder, model))
    .filter((file) => file !== 'README.md' && file !== 'calibration.json')
    .sort();
const read = (model: string, file: string) => new Uint8Array(readFileSync(join(folder, model, file)));

it('the digests are those of the files (new weights: run this test with -u)', async () => {
  const found: Record<string, Record<string, string>> = {};
  for (const model of BUNDLED) {
    found[model] = {};
    for (const file of filesOf(model)) found[model][file] = await sha256(read(model, file));
  }
  await expect(`${JSON.stringify(found, null, 2)}\n`).toMatchFileSnapshot('bundled-digests.json');
});

describe.each(BUNDLED)('the card of %s', (model) => {
  const card = readFileSync(join(folder, model, 'README.md'), 'utf8');
  const named = [...card.matchAll(/`([\w.-]+)` sha256\s+`([0-9a-f]{64})`/g)];

  it('names every file of weights with its digest', () => {
    const weights = filesOf(model).filter((file) => /\.(safetensors|onnx|gguf)$/.test(file));
    expect(named.map(([, file]) => file).sort()).toEqual(weights);
    for (const [, file, digest] of named) expect(digest).toBe(BUNDLED_DIGESTS[model]?.[file as string]);
  });

  it('names no other digest than that of its target', () => {
    const own = named.map(([, , digest]) => digest);
    const digests = card.match(/[0-9a-f]{64}/g) ?? [];
    for (const digest of digests.filter((each) => !own.includes(each)))
      expect(digest).toBe(BUNDLED_DIGESTS.target?.['model.safetensors']);
  });
});

describe('a bundled model on load', async () => {
  const server = await serveFiles({});
  const scratch = mkdtempSync(join(tmpdir(), 'outrider-bundled-'));
  const source = withDigests(bundledSource('draft', server.address));
  const newStore = (): Store => new Store(new DiskFolder(scratch), { chunkBytes: 100_000 });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(scratch, { recursive: true });
  });
  beforeEach(() => {
    for (const file of filesOf('draft')) server.files.set(`models/draft/${file}`, read('draft', file));
    server.requests.length = 0;
  });
  const flip = (file: string): void => {
    const bytes = read('draft', file);
    const at = bytes.length - 40;
    bytes[at] = (bytes[at] as number) ^ 1;
    server.files.set(`models/draft/${file}`, bytes);
  };
  const weights = async (store?: Store): Promise<Uint8Array> => {
    using file = await fileSet(source, { store }).open('model.safetensors', {});
    if (!file) throw new Error('not found');
    return await readBytes(file, 1000, file.size);
  };

  it('opens when every file is the right one', async () => {
    using checkpoint = await openCheckpoint(source);
    expect(checkpoint.tensors.size).toBeGreaterThan(0);
    expect(await checkpoint.tokenizer()).not.toBeNull();
  });

  it.each(['model.safetensors', 'config.json'])('is refused when one bit of %s differs', async (file) => {
    flip(file);
    await expect(openCheckpoint(source)).rejects.toMatchObject({
      code: 'bad-checkpoint',
      message: expect.stringContaining(`draft: ${file} differs from the file that this version of Outrider came with`),
    });
  });

  it('is refused when a file is missing that it may do without elsewhere', async () => {
    server.files.delete('models/draft/generation_config.json');
    using checkpoint = await openCheckpoint(source);
    await expect(checkpoint.tokenizer()).rejects.toMatchObject({
      code: 'download-failed',
      message: `the server has no ${server.address}models/draft/generation_config.json`,
      hint: SERVE_BUNDLED,
    });
  });

  it('is fetched once more when what was stored differs', async () => {
    flip('model.safetensors');
    await expect(weights(newStore())).rejects.toMatchObject({ code: 'bad-checkpoint' });
    server.files.set('models/draft/model.safetensors', read('draft', 'model.safetensors'));
    // The server names the same version for both: the stored copy counts as current, and its digest is wrong.
    expect(Buffer.compare(await weights(newStore()), read('draft', 'model.safetensors').subarray(1000))).toBe(0);
  });
});
