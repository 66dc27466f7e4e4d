// Malformed files that other projects collected, made again from their lists: llama.cpp's hand-crafted GGUF files
// (tests/test-gguf.cpp, by their names there) and safetensors' abuse attempts (attacks/safetensors_abuse_attempt_N.py).
import { describe, expect, it } from 'vitest';
import { type GgufTensor, writeGguf } from '../testing/files/gguf-writer.ts';
import { processorLimit } from '../testing/slowness.ts';
import { openCheckpoint } from './open.ts';

const METADATA = {
  'general.architecture': 'llama',
  'llama.block_count': 1,
  'llama.context_length': 64,
  'llama.embedding_length': 32,
  'llama.feed_forward_length': 64,
  'llama.attention.head_count': 4,
  'llama.attention.layer_norm_rms_epsilon': 1e-5,
};
const TENSORS: readonly GgufTensor[] = [
  { name: 'token_embd.weight', dimensions: [32, 4], type: 0, data: new Uint8Array(512) },
  { name: 'output_norm.weight', dimensions: [32], type: 0, data: new Uint8Array(128) },
];

const gguf = (metadata: object = {}, tensors = TENSORS, version = 3): Uint8Array<ArrayBuffer> =>
  writeGguf({ version, metadata: { ...METADATA, ...metadata }, tensors });
const first = (changes: Partial<GgufTensor>): readonly GgufTensor[] => [
  { ...(TENSORS[0] as GgufTensor), ...changes },
  TENSORS[1] as GgufTensor,
];
/** A field of the file, set to a lie. */
const lying = (file: Uint8Array<ArrayBuffer>, at: number, value: bigint): Uint8Array<ArrayBuffer> => {
  new DataView(file.buffer).setBigUint64(at, value, true);
  return file;
};
/** Where the text begins. */
const find = (file: Uint8Array, text: string): number => Buffer.from(file).indexOf(text);
const ALL_ONES = 2n ** 64n - 1n;
const twice = (file: Uint8Array<ArrayBuffer>, text: string, other: string): Uint8Array<ArrayBuffer> => {
  file.set(new TextEncoder().encode(other), find(file, text));
  return file;
};
const typeOf = (file: Uint8Array<ArrayBuffer>, key: string, type: number): Uint8Array<ArrayBuffer> => {
  new DataView(file.buffer).setUint32(find(file, key) + key.length, type, true);
  return file;
};

const open = async (files: Record<string, Uint8Array>): Promise<void> => {
  using checkpoint = await openCheckpoint({ kind: 'bytes', files: new Map(Object.entries(files)) });
  for await (const block of checkpoint.stream()) block.decode();
};

describe('llama.cpp’s hand-crafted GGUF files', () => {
  it.each<[string, Uint8Array]>([
    ['HEADER_BAD_MAGIC', twice(gguf(), 'GGUF', 'FUGG')],
    ['HEADER_BAD_VERSION_0', gguf({}, TENSORS, 0)],
    ['HEADER_BAD_VERSION_1', gguf({}, TENSORS, 1)],
    ['HEADER_BAD_VERSION_FUTURE', gguf({}, TENSORS, 4)],
    ['HEADER_BAD_N_TENSORS', lying(gguf(), 8, ALL_ONES)],
    ['HEADER_BAD_N_KV', lying(gguf(), 16, ALL_ONES)],
    ['HEADER_EMPTY', writeGguf({ metadata: {}, tensors: [] })],
    ['KV_BAD_KEY_SIZE', lying(gguf(), 24, ALL_ONES)],
    ['KV_EMPTY_KEY', gguf({ '': 1 })],
    ['KV_BAD_TYPE', typeOf(gguf(), 'llama.block_count', 13)],
    ['KV_BAD_VALUE_SIZE', lying(gguf(), find(gguf(), 'general.architecture') + 24, 2n ** 62n)],
    ['KV_DUPLICATE_KEY', twice(gguf({ 'llama.block_coun2': 1 }), 'llama.block_coun2', 'llama.block_count')],
    ['KV_BAD_ALIGN', gguf({ 'general.alignment': 13 })],
    ['KV_BAD_ALIGN as a fraction', gguf({ 'general.alignment': 1.5 })],
    ['KV_WRONG_TYPE_ALIGN', gguf({ 'general.alignment': true })],
    ['TENSORS_BAD_NAME_SIZE', gguf({}, first({ name: `token_embd.weight${'_long'.repeat(20)}` }))],
    ['TENSORS_BAD_N_DIMS', gguf({}, first({ dimensions: [32, 4, 1, 1, 1] }))],
    ['TENSORS_BAD_SHAPE', lying(gguf(), find(gguf(), 'token_embd.weight') + 17 + 4, ALL_ONES)],
    ['TENSORS_NE_TOO_BIG', gguf({}, first({ dimensions: [4 * (2 ** 31 - 1), 4 * (2 ** 31 - 1)] }))],
    ['TENSORS_NBYTES_TOO_BIG', gguf({}, first({ dimensions: [1_533_916_891, 1_533_916_891], type: 27 }))],
    ['TENSORS_BAD_TYPE', gguf({}, first({ type: 41 }))],
    ['TENSORS_BAD_OFFSET', gguf({}, first({ offset: 2 ** 63 }))],
    ['TENSORS_DUPLICATE_NAME', gguf({}, [TENSORS[1] as GgufTensor, TENSORS[1] as GgufTensor])],
    ['TENSORS_BAD_ALIGN', gguf({ 'general.alignment': 13 }, [])],
    [
      'TENSORS_INCONSISTENT_ALIGN',
      gguf({}, [TENSORS[1] as GgufTensor, { ...(TENSORS[0] as GgufTensor), offset: 129 }]),
    ],
    ['DATA_NOT_ENOUGH_DATA', gguf().subarray(0, -1)],
    ['DATA_INCONSISTENT_ALIGN', gguf({}, [TENSORS[0] as GgufTensor, { ...(TENSORS[1] as GgufTensor), offset: 513 }])],
    ['DATA_MEM_SIZE_OVERFLOW', gguf({}, first({ dimensions: [Number(0x7fffffffffffffc0n)], type: 24 }))],
  ])('%s', async (_, file) => {
    const before = process.memoryUsage().arrayBuffers;
    await expect(open({ 'model.gguf': file })).rejects.toMatchObject({ code: 'bad-checkpoint' });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20);
  });

  it('TENSORS_ZERO_DIM, TENSORS_CUSTOM_ALIGN, DATA_CUSTOM_ALIGN and the unchanged file are read', async () => {
    await open({ 'model.gguf': gguf() });
    await open({ 'model.gguf': gguf({ 'general.alignment': 1 }) });
    await open({ 'model.gguf': gguf({}, first({ dimensions: [32, 0], data: new Uint8Array(0) })) });
  });
});

describe('safetensors’ abuse attempts', () => {
  const file = (header: string, data: number, length = header.length): Uint8Array => {
    const bytes = Buffer.alloc(8 + header.length + data);
    bytes.writeBigUInt64LE(BigInt(length));
    bytes.write(header, 8);
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  };
  const config = new TextEncoder().encode('{}');
  const refused = async (weights: Uint8Array, message: RegExp): Promise<void> => {
    const start = process.cpuUsage();
    await expect(open({ 'config.json': config, 'model.safetensors': weights })).rejects.toMatchObject({
      code: 'bad-checkpoint',
      message: expect.stringMatching(message),
    });
    const { user, system } = process.cpuUsage(start);
    const ms = (user + system) / 1000;
    expect(ms).toBeLessThan(processorLimit(ms, 1000));
  };

  it('1: the header claims to be longer than the file', async () => {
    const header = '{"weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}';
    await refused(file(header, 16, 1000), /header would have 1000 bytes/);
  });

  it.each([
    ['2: a small tensor a hundred thousand times', [2, 2]],
    ['3: a tensor of 160 kB a hundred thousand times', [200, 200]],
  ])('%s in the same place', async (_, shape) => {
    const bytes = 4 * (shape[0] as number) * (shape[1] as number);
    const entry = JSON.stringify({ dtype: 'F32', shape, data_offsets: [0, bytes] });
    const header = `{${Array.from({ length: 100_000 }, (_, i) => `"weight_${i}":${entry}`).join(',')}}`;
    await refused(file(header, bytes), /overlaps|header/);
  });
});
