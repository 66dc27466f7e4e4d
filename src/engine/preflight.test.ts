// Estimates against what a load then takes, and models too large for any machine of which only the headers exist.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gpu } from '../gpu/device.ts';
import { tensorSpecs } from '../model/architecture.ts';
import { readArchitecture } from '../model/families/families.ts';
import { remote, remoteJudge } from '../remote/server.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { serveFiles } from '../testing/servers/file-server.ts';
import { tinyFamily } from '../testing/toys/tiny-family.ts';
import { tinyMtp } from '../testing/toys/tiny-mtp.ts';
import type { ByteSource } from '../weights/files/byte-source.ts';
import { SERVE_BUNDLED } from '../weights/files/checked.ts';
import { folderSource } from '../weights/files/folder.ts';
import type { Source } from '../weights/open.ts';
import { createEngine, type Engine } from './engine.ts';

const bundled = (name: string): Promise<Source> => folderSource(join(import.meta.dirname, '../../public/models', name));

let gpu: Gpu;
let engine: Engine;
beforeAll(async () => {
  gpu = await testGpu('all');
  engine = createEngine({ gpu });
});
afterAll(() => engine.close());

const LLAMA_70B = {
  architectures: ['LlamaForCausalLM'],
  vocab_size: 128_256,
  hidden_size: 8192,
  intermediate_size: 28_672,
  num_hidden_layers: 80,
  num_attention_heads: 64,
  num_key_value_heads: 8,
  hidden_act: 'silu',
  max_position_embeddings: 131_072,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: false,
};

/** Config and header of a model; a read of its weights fails. */
const headersOnly = (config: Readonly<Record<string, unknown>>, tensors = Number.POSITIVE_INFINITY): Source => {
  let end = 0;
  const specs = tensorSpecs(readArchitecture(config)).slice(0, tensors);
  const table = specs.map(({ checkpoint, shape }) => {
    const start = end;
    end += shape.reduce((a, b) => a * b, 2);
    return [checkpoint, { dtype: 'F16', shape, data_offsets: [start, end] }] as const;
  });
  const header = new TextEncoder().encode(JSON.stringify(Object.fromEntries(table)));
  const weights = new Uint8Array(8 + header.length);
  new DataView(weights.buffer).setBigUint64(0, BigInt(header.length), true);
  weights.set(header, 8);
  const files: Readonly<Record<string, { bytes: Uint8Array; size: number }>> = {
    'config.json': { bytes: new TextEncoder().encode(JSON.stringify(config)), size: JSON.stringify(config).length },
    'model.safetensors': { bytes: weights, size: weights.length + end },
  };
  const open = async (name: string): Promise<ByteSource | null> => {
    const file = files[name];
    if (!file) return null;
    return {
      name,
      size: file.size,
      async readInto(target, start) {
        if (start + target.length > file.bytes.length) throw new Error('a weight was read');
        target.set(file.bytes.subarray(start, start + target.length));
      },
      [Symbol.dispose]() {},
    };
  };
  return { kind: 'folder', files: { name: 'llama-70b', names: Object.keys(files), entry: null, open } };
};

test('the estimate is what a load then takes, for every kind of model', async () => {
  const sources = {
    target: await bundled('target'),
    draft: await bundled('draft'),
    dflash: await bundled('dflash'),
    prm: await bundled('prm'),
    policy: await bundled('blockpilot'),
  };
  const { parts, fits, device, download } = await engine.preflight(sources, { memory: 1e9 });
  expect(fits).toBe(true);
  expect(parts.map(({ role }) => role)).toEqual(Object.keys(sources));
  const { models } = await engine.load(sources);
  for (const { role, name, family, weights, scratch } of parts.slice(0, -1)) {
    expect({ name, family }).toEqual({ name: models[role]?.name, family: models[role]?.family });
    expect((weights + scratch) / (models[role]?.bytes ?? 0)).toBeCloseTo(1, 1);
  }
  expect(device).toBe(parts.reduce((sum, { weights, cache, scratch }) => sum + weights + cache + scratch, 0));
  expect(download).toBeGreaterThan(1e6);
});

test('a network that runs in the host’s memory is downloaded too, and takes nothing of the device', async () => {
  const sized = (name: string, size: number): Source => ({
    kind: 'bytes',
    files: new Map([
      ['config.json', new Uint8Array(10)],
      [name, new Uint8Array(size)],
    ]),
  });
  const sources = {
    policy: await bundled('blockpilot'),
    sentences: sized('onnx/model.onnx', 1000),
    prm: sized('model.onnx', 2000),
  };
  const { parts, download, device } = await engine.preflight(sources);
  const { size } = statSync(join(import.meta.dirname, '../../public/models/blockpilot/policy.onnx'));
  expect(parts.map((part) => part.download)).toEqual([size, 1000, 2000]);
  expect({ download, device }).toEqual({ download: size + 3000, device: 0 });
  await expect(engine.preflight({ policy: sized('model.onnx', 9) })).rejects.toMatchObject({ code: 'bad-checkpoint' });
});

test('a drafter in its target’s files adds its own memory, and nothing to download', async () => {
  const target = tinyMtp().source;
  const [alone, both] = [await engine.preflight({ target }), await engine.preflight({ target, mtp: 'built-in' })];
  const [own, layer] = both.parts;
  expect(own).toEqual(alone.parts[0]);
  expect(both.download).toBe(alone.download);
  expect(layer).toMatchObject({ role: 'mtp', family: 'qwen3_5_mtp', download: 0 });
  const { models } = await engine.load({ target, mtp: 'built-in' });
  expect(models.mtp).toMatchObject({ family: 'qwen3_5_mtp' });
  expect(models.target?.mtp).toBe(true);
  expect(layer?.weights).toBeGreaterThan(0.1 * (own?.weights ?? 0));
  expect((layer?.weights ?? 0) + (layer?.scratch ?? 0)).toBeLessThanOrEqual(models.mtp?.bytes ?? 0);
});

test('of a target whose files also draft, the headers are fetched once, in whatever order both are named', async () => {
  const { source } = tinyMtp();
  await using server = await serveFiles(
    Object.fromEntries([...source.files].map(([name, bytes]) => [`tiny/${name}`, bytes])),
  );
  const target = { kind: 'url', url: `${server.address}tiny/` } as const;
  const alone = await engine.preflight({ target });
  const requests = server.requests.splice(0).map(({ path }) => path);
  expect(requests).toContain('tiny/model.safetensors');
  const both = await engine.preflight({ mtp: 'built-in', target });
  expect(server.requests.map(({ path }) => path)).toEqual(requests);
  expect(both.parts.map(({ role }) => role)).toEqual(['target', 'mtp']);
  expect(both.download).toBe(alone.download);
});

test('a target whose files have no MTP layer does not say that it has one', async () => {
  const { source } = tinyMtp({
    edit(all) {
      for (const name of [...all.keys()]) if (name.startsWith('mtp.')) all.delete(name);
    },
  });
  const { models } = await engine.load({ target: source });
  expect(models.target).not.toHaveProperty('mtp');
});

test('a drafter that leaves its vocabulary to its target may be named before it', async () => {
  const { target, dflash } = tinyFamily();
  if (!('files' in dflash && dflash.files instanceof Map)) throw new Error('a source in memory');
  const config = JSON.parse(new TextDecoder().decode(dflash.files.get('config.json')));
  const silent = new TextEncoder().encode(JSON.stringify({ ...config, vocab_size: null }));
  const drafter: Source = { kind: 'bytes', files: new Map([...dflash.files, ['config.json', silent]]) };
  const { parts } = await engine.preflight({ target, dflash: drafter });
  expect((await engine.preflight({ dflash: drafter, target })).parts).toEqual(parts);
});

test('where the server has no such model, load and preflight name the address, and say what to do', async () => {
  await using server = await serveFiles({});
  const there = createEngine({ gpu, base: server.address });
  const url = `${server.address}nowhere/`;
  for (const [models, hint] of [
    [{ target: 'draft' }, SERVE_BUNDLED],
    [{ target: { kind: 'url', url } }, expect.stringMatching(/^Check the address\. A model is /)],
    [{ prm: { kind: 'url', url } }, expect.stringMatching(/^Check the address\. A model is /)],
    [{ policy: { kind: 'url', url } }, 'Check the address. A policy is config.json and policy.onnx.'],
    [{ sentences: { kind: 'url', url } }, expect.stringMatching(/^Check the address\. A sentence encoder is /)],
  ] as const) {
    const wrong = { code: 'download-failed', message: expect.stringContaining(`has no ${server.address}`), hint };
    await expect(there.preflight(models)).rejects.toMatchObject(wrong);
    if ('prm' in models) continue; // a load of it alone is refused before
    await expect(there.load(models)).rejects.toMatchObject(wrong);
  }
  await there.close();
});

test('what is on other machines takes nothing here', async () => {
  const far = { remote: remote('http://localhost', 'big'), prm: remoteJudge('http://localhost', 'prm') };
  const { parts, fits } = await engine.preflight({ draft: await bundled('draft'), ...far });
  expect({ roles: parts.map(({ role }) => role), fits }).toEqual({ roles: ['draft'], fits: true });
});

test('a model larger than the memory does not fit, by its headers alone, and what would help is said', async () => {
  const target = headersOnly(LLAMA_70B);
  const large = await engine.preflight({ target }, { memory: 64e9 });
  expect(large.fits).toBe(false);
  expect(large.why).toMatch(/^1\d\d\.\d GB on the device are more than the 64\.0 GB/);
  expect(large.hint).toBe('With weights of 4 bits it fits.');
  expect((await engine.preflight({ target }, { memory: 64e9, precision: 'q4' })).fits).toBe(true);
  expect((await engine.preflight({ target }, { memory: 8e9 })).hint).toBe('Choose a smaller model.');
});

test('a cache that no buffer of the device holds does not fit, whatever the memory', async () => {
  const target = headersOnly({ ...LLAMA_70B, num_key_value_heads: 64, max_position_embeddings: 2 ** 20 });
  const { fits, why, hint, limits } = await engine.preflight({ target }, { memory: 1e15, tokens: 2 ** 20 });
  expect(limits.buffer).toBe(Math.min(gpu.device.limits.maxBufferSize, gpu.device.limits.maxStorageBufferBindingSize));
  expect(fits).toBe(false);
  expect(why).toMatch(/cache of one layer takes 34\.\d GB, and a buffer of this device holds/);
  expect(hint).toContain('q8 cache');
});

test('scratch of attention that no buffer of the device holds does not fit either, though the cache does', async () => {
  const target = headersOnly({ ...LLAMA_70B, num_key_value_heads: 1, max_position_embeddings: 2 ** 20 });
  const { fits, why, hint } = await engine.preflight({ target }, { memory: 1e15, tokens: 2 ** 18, cache: 'q8' });
  expect(fits).toBe(false);
  expect(why).toMatch(/attention takes \d+\.\d GB of scratch, and a buffer of this device holds/);
  expect(hint).toBe('Ask for fewer tokens.');
});

test('a checkpoint under a role that it was not made for is refused before it is downloaded', async () => {
  const [target, dflash] = [await bundled('target'), await bundled('dflash')];
  await expect(engine.preflight({ target: dflash })).rejects.toThrow(/DFlashDraftModel/);
  await expect(engine.preflight({ target, dflash: target })).rejects.toThrow(/is a language model: it is no drafter/);
  const builtIn = { code: 'bad-checkpoint', hint: expect.stringContaining('a target with an MTP layer') };
  await expect(engine.preflight({ target, mtp: 'built-in' })).rejects.toMatchObject(builtIn);
  const eagle3 = await bundled('eagle3');
  await expect(engine.preflight({ target, dflash: eagle3 })).rejects.toThrow(
    /no drafter for dflash: it is one for eagle3/,
  );
  await expect(engine.preflight({ target, prm: dflash })).rejects.toThrow(/DFlashDraftModel/);
  expect((await engine.preflight({ target, prm: target })).parts).toHaveLength(2); // a language model may judge
});

test('a model that lacks a tensor is refused before anything is planned for it', async () => {
  await expect(engine.preflight({ target: headersOnly(LLAMA_70B, 100) })).rejects.toMatchObject({
    code: 'bad-checkpoint',
    message: expect.stringMatching(/^tensor model\.layers\.\d+\..* is missing$/),
  });
});

test.each([
  [{ tokens: Number.NaN }, 'tokens must be a whole number from 1'],
  [{ tokens: -5 }, 'tokens must be a whole number from 1'],
  [{ memory: Number.NaN }, 'memory must be from 0'],
])('%j is refused', async (options, message) => {
  await expect(engine.preflight({}, options)).rejects.toMatchObject({
    code: 'bad-request',
    message: expect.stringContaining(message),
  });
});
