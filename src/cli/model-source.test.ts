import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { modelSource, readModelName } from './model-source.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

it('a repository whose list cannot be fetched stands for the file that was chosen of it before', async () => {
  vi.stubEnv('OUTRIDER_STORE', join(mkdtempSync(join(tmpdir(), 'outrider-')), 'store'));
  const notes: string[] = [];
  const terminal = { root: '.', signal: new AbortController().signal, note: (line: string) => void notes.push(line) };
  const list = { siblings: [{ rfilename: 'a-Q4_K_M.gguf', size: 5 }] };
  vi.stubGlobal('fetch', async () => Response.json(list));
  const source = await modelSource('owner/name', terminal);
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('offline')));
  expect(await modelSource('owner/name', terminal)).toEqual(source);
  expect(notes.at(-1)).toMatch(/^warning: the list of owner\/name cannot be fetched; .*a-Q4_K_M\.gguf$/);
  await expect(modelSource('owner/other', terminal)).rejects.toMatchObject({ code: 'download-failed' });
  vi.stubGlobal('fetch', async () => new Response(null, { status: 404 }));
  await expect(modelSource('owner/name', terminal)).rejects.toThrow('there is no public model');
});

it('a model may be named with a precision of its own', () => {
  expect(readModelName('target@q4')).toEqual({ name: 'target', precision: 'q4' });
  expect(readModelName('models/a@b@f32')).toEqual({ name: 'models/a@b', precision: 'f32' });
  for (const name of ['target', 'models/a@b', 'a@q5', 'q8']) expect(readModelName(name)).toEqual({ name });
});

it('a path that ends like a precision is a name', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'outrider-')), 'model@q8');
  mkdirSync(path);
  expect(readModelName(path)).toEqual({ name: path });
  expect(readModelName(`${path}@q4`)).toEqual({ name: path, precision: 'q4' });
});
