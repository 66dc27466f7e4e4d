// PyTorch's files: tables of tensors are read, and whatever else a pickle may say is refused by name.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DiskFolder } from '../testing/files/disk-folder.ts';
import { pickleOf, type TorchTensor, writeTorch } from '../testing/files/torch-writer.ts';
import { serveFiles } from '../testing/servers/file-server.ts';
import { Store } from './files/store.ts';
import { openCheckpoint } from './open.ts';

const TENSORS: readonly TorchTensor[] = [
  {
    name: 'fc.weight',
    storage: 'FloatStorage',
    shape: [2, 3],
    data: new Uint8Array(Float32Array.of(1, 2, 3, 4, 5, 6).buffer),
  },
  { name: 'd2t', storage: 'LongStorage', shape: [2], data: new Uint8Array(BigInt64Array.of(7n, -1n).buffer) },
];

const open = (file: Uint8Array) =>
  openCheckpoint({
    kind: 'bytes',
    files: new Map([
      ['config.json', new TextEncoder().encode('{}')],
      ['pytorch_model.bin', file],
    ]),
  });

test('tensors are read as they were saved', async () => {
  using checkpoint = await open(writeTorch(TENSORS));
  const read = new Map<string, number[]>();
  for await (const { tensor, decode } of checkpoint.stream()) read.set(tensor.name, [...decode()]);
  expect(read.get('fc.weight')).toEqual([1, 2, 3, 4, 5, 6]);
  expect(read.get('d2t')).toEqual([7, -1]);
  expect(checkpoint.tensors.get('fc.weight')).toMatchObject({ type: 'F32', shape: [2, 3] });
});

test('at an address, which cannot say what it has, it is what there is in place of model.safetensors', async () => {
  await using server = await serveFiles({
    'm/config.json': new TextEncoder().encode('{}'),
    'm/pytorch_model.bin': writeTorch(TENSORS),
  });
  using checkpoint = await openCheckpoint({ kind: 'url', url: `${server.address}m/` });
  expect([...checkpoint.tensors.keys()].toSorted()).toEqual(['d2t', 'fc.weight']);
  server.files.delete('m/pytorch_model.bin');
  await expect(openCheckpoint({ kind: 'url', url: `${server.address}m/` })).rejects.toThrow(
    `the server has no ${server.address}m/model.safetensors`,
  );
});

test('of which the copy in a store needs no server, not even for the file in whose place it is', async () => {
  const server = await serveFiles({
    'm/config.json': new TextEncoder().encode('{}'),
    'm/pytorch_model.bin': writeTorch(TENSORS),
  });
  const folder = mkdtempSync(join(tmpdir(), 'outrider-torch-'));
  const load = async (): Promise<readonly string[]> => {
    const source = { kind: 'url', url: `${server.address}m/`, revalidate: true } as const;
    using checkpoint = await openCheckpoint(source, { store: new Store(new DiskFolder(folder)) });
    for await (const { decode } of checkpoint.stream()) decode();
    return [...checkpoint.tensors.keys()];
  };
  const first = await load();
  await server[Symbol.asyncDispose]();
  expect(await load()).toEqual(first);
  rmSync(folder, { recursive: true });
});

test('a pickle that names another function is refused', async () => {
  for (const call of [
    ['os', 'system'],
    ['builtins', 'eval'],
    ['torch', 'load'],
  ])
    await expect(open(writeTorch(TENSORS, pickleOf(TENSORS, call)))).rejects.toMatchObject({
      code: 'bad-checkpoint',
      message: expect.stringContaining(`it names ${call.join('.')}`),
    });
});

test('rows that do not follow one another, and storages that are too short, are refused', async () => {
  const [fc] = TENSORS as [TorchTensor];
  await expect(open(writeTorch([{ ...fc, stride: [1, 2] }]))).rejects.toThrow('a call that makes no tensor');
  await expect(open(writeTorch([{ ...fc, shape: [3, 3] }]))).rejects.toThrow('36 bytes at 0 of a storage of 24');
  // One list of a million dimensions may serve a million tensors.
  await expect(open(writeTorch([{ ...fc, shape: Array(65).fill(1) }]))).rejects.toThrow('a call that makes no tensor');
});

test('an archive that was cut off is told from a file that is none', async () => {
  const whole = writeTorch(TENSORS);
  for (const end of [whole.length - 1, whole.length - 22, whole.length >> 1, 22])
    await expect(open(whole.slice(0, end))).rejects.toMatchObject({
      code: 'bad-checkpoint',
      message: expect.stringContaining(
        `pytorch_model.bin: truncated: its zip directory is not at its end, byte ${end}`,
      ),
      hint: expect.stringContaining('download or copy it again'),
    });
  const page = new TextEncoder().encode('<!DOCTYPE html><title>Not found</title>');
  await expect(open(page)).rejects.toThrow('it is no zip archive');
});

test('a message stays short, however long a name is', async () => {
  const [fc] = TENSORS as [TorchTensor];
  const error: Error = await open(writeTorch([{ ...fc, name: 'x'.repeat(20_000), shape: [3, 3] }])).then(
    () => new Error('it was read'),
    (reason: Error) => reason,
  );
  expect(error.message).toContain('36 bytes at 0 of a storage of 24');
  expect(error.message.length).toBeLessThan(300);
});
