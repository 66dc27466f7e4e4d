// Models behind addresses and in dropped files: the same checkpoints as from a folder.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DiskFolder } from '../../testing/files/disk-folder.ts';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { type FileServer, serveFiles } from '../../testing/servers/file-server.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { type OpenOptions, openCheckpoint } from '../open.ts';
import { addressFiles } from './address.ts';
import { memorySource } from './byte-source.ts';
import { folderSource } from './folder.ts';
import { Store } from './store.ts';

/** Where a model's files would be asked for. */
const asked = async (address: string, ...names: string[]): Promise<string[]> => {
  const addresses: string[] = [];
  const files = addressFiles(address, async (file) => {
    addresses.push(file);
    return memorySource('', new Uint8Array(0));
  });
  for (const name of names) await files.open(name, {});
  return addresses;
};

describe('addresses', () => {
  it.each([
    ['https://a.test/models/tiny', 'https://a.test/models/tiny/config.json'],
    ['https://a.test/models/tiny/', 'https://a.test/models/tiny/config.json'],
    ['https://a.test/models/tiny/model.safetensors?key=1', 'https://a.test/models/tiny/config.json?key=1'],
    ['https://a.test/tiny/config.json', 'https://a.test/tiny/config.json'],
    ['https://huggingface.co/owner/name', 'https://huggingface.co/owner/name/resolve/main/config.json'],
    ['https://huggingface.co/owner/name/tree/v1', 'https://huggingface.co/owner/name/resolve/v1/config.json'],
    ['https://huggingface.co/o/n/blob/main/model.safetensors', 'https://huggingface.co/o/n/resolve/main/config.json'],
  ])('%s', async (address, config) => {
    expect(await asked(address, 'config.json')).toEqual([config]);
  });

  it('a GGUF file is the entry of its folder', async () => {
    const entry = (address: string): string | null => addressFiles(address, async () => null).entry;
    expect(entry('https://a.test/m/tiny%20one.gguf?download=true')).toBe('tiny one.gguf');
    expect(entry('https://a.test/m/50%-model.gguf')).toBe('50%-model.gguf');
    expect(await asked('https://a.test/m/x.gguf', '50%-model.gguf')).toEqual(['https://a.test/m/50%25-model.gguf']);
    expect(entry('https://a.test/m/config.json')).toBeNull();
    expect(await asked('https://a.test/m/x.gguf', 'tiny one.gguf')).toEqual(['https://a.test/m/tiny%20one.gguf']);
    expect(await asked('https://a.test/m/', 'onnx/a b.onnx')).toEqual(['https://a.test/m/onnx/a%20b.onnx']);
    expect(() => addressFiles('no address', async () => null)).toThrow(/no address is not a URL/);
  });
});

const decoded = async (checkpoint: Checkpoint): Promise<Map<string, number>> => {
  const sums = new Map<string, number>();
  for await (const block of checkpoint.stream())
    for (const value of block.decode()) sums.set(block.tensor.name, (sums.get(block.tensor.name) ?? 0) + value);
  return sums;
};
const golden = (name: string): Record<string, Uint8Array> =>
  Object.fromEntries(
    readdirSync(shared('golden', name)).map((file) => [`m/${file}`, readFileSync(shared('golden', name, file))]),
  );

describe.skipIf(noShared)('models from the web and from dropped files', () => {
  const openUrl = (server: FileServer, path: string, options: OpenOptions = {}): Promise<Checkpoint> =>
    openCheckpoint({ kind: 'url', url: server.address + path }, options);

  it.each([
    { ranges: true, pageForMissing: false },
    { ranges: false, pageForMissing: true },
  ])('shards over HTTP ($ranges, $pageForMissing) are what they are in the folder', async (behaviour) => {
    await using server = await serveFiles(golden('qwen3-tiny-sharded'));
    server.behave(behaviour);
    using local = await openCheckpoint(await folderSource(shared('golden/qwen3-tiny-sharded')));
    using remote = await openUrl(server, 'm');
    expect(await decoded(remote)).toEqual(await decoded(local));
    expect(await remote.tokenizer()).toBeNull();
  });

  it('a stored model asks for nothing, not even for the files that it lacks', async () => {
    await using server = await serveFiles({
      ...golden('qwen3-tiny'),
      'm/tokenizer.json': readFileSync(shared('golden/gguf-qwen3-tiny/tokenizer.json')),
    });
    const folder = mkdtempSync(join(tmpdir(), 'outrider-address-'));
    try {
      const load = async (): Promise<number> => {
        const store = new Store(new DiskFolder(folder), { chunkBytes: 100_000 });
        using checkpoint = await openUrl(server, 'm/', { store });
        await decoded(checkpoint);
        expect(await checkpoint.tokenizer()).toMatchObject({ config: {}, generation: {} });
        return server.requests.length;
      };
      const first = await load();
      expect(server.requests.map(({ path }) => path)).toContain('m/chat_template.jinja');
      expect(await load()).toBe(first);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('chat templates in files of their own, which replace that of tokenizer_config.json', async () => {
    const files = new Map(Object.entries(golden('qwen3-tiny')).map(([name, bytes]) => [name.slice(2), bytes]));
    const template = async (name: string, text: string): Promise<unknown> => {
      files.set(name, new TextEncoder().encode(text));
      using checkpoint = await openCheckpoint({ kind: 'bytes', files });
      return (await checkpoint.tokenizer())?.config.chat_template;
    };
    expect(await template('tokenizer.json', '{}')).toBeUndefined();
    expect(await template('tokenizer_config.json', '{"chat_template":"older"}')).toBe('older');
    expect(await template('chat_template.jinja', '{{ messages }}')).toBe('{{ messages }}');
    expect(await template('additional_chat_templates/tool_use.jinja', '{{ tools }}')).toEqual([
      { name: 'default', template: '{{ messages }}' },
      { name: 'tool_use', template: '{{ tools }}' },
    ]);
  });

  it('dropped files: one GGUF, or a folder whose inner files hide nothing', async () => {
    const file = (name: string, path: string, bytes: Uint8Array<ArrayBuffer>): File =>
      Object.defineProperty(new File([bytes], name), 'webkitRelativePath', { value: path });
    const gguf = new Uint8Array(readFileSync(shared('golden/gguf-llama-tiny/llama-tiny.F16.gguf')));
    using one = await openCheckpoint({ kind: 'files', files: [file('llama-tiny.F16.gguf', '', gguf)] });
    using same = await openCheckpoint(await folderSource(shared('golden/gguf-llama-tiny/llama-tiny.F16.gguf')));
    expect(await decoded(one)).toEqual(await decoded(same));
    const files = Object.entries(golden('qwen3-tiny')).map(([name, bytes]) =>
      file(name.slice(2), name, new Uint8Array(bytes)),
    );
    const inner = file('config.json', 'm/onnx/config.json', new Uint8Array(1));
    using folder = await openCheckpoint({ kind: 'files', files: [...files, inner] });
    expect(folder.config.model_type).toBe('qwen3');
    expect(folder.name).toBe('m');
  });

  it('an address with no model says what is missing; an aborted one says so', async () => {
    await using server = await serveFiles({});
    await expect(openUrl(server, 'm/x.gguf')).rejects.toMatchObject({
      code: 'download-failed',
      message: `the server has no ${server.address}m/x.gguf`,
      hint: expect.stringMatching(/^Check the address\. A model is /),
    });
    await expect(openUrl(server, 'm')).rejects.toMatchObject({
      code: 'download-failed',
      message: `the server has no ${server.address}m/config.json`,
      hint: expect.stringMatching(/^Check the address\. A model is /),
    });
    server.behave({ pageForMissing: true });
    for (const path of ['m', 'm/x.gguf'])
      await expect(openUrl(server, path)).rejects.toMatchObject({
        message: expect.stringContaining(`the server has no ${server.address}m/`),
        hint: 'The server answered with a page instead of the file: check the address.',
      });
    await expect(openUrl(server, 'm', { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
  });
});
