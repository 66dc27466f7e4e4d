// Every way in which a file can be wrong is named, with the tensor and the numbers.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GgufTensor } from '../testing/files/gguf-writer.ts';
import { writeGguf } from '../testing/files/gguf-writer.ts';
import type { Checkpoint } from './checkpoint.ts';
import { folderSource } from './files/folder.ts';
import type { GgufValue } from './gguf/container.ts';
import { openCheckpoint } from './open.ts';

const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const openFiles = (files: Record<string, Uint8Array>): Promise<Checkpoint> =>
  openCheckpoint({ kind: 'bytes', files: new Map(Object.entries(files)) });

/** A safetensors file from the text of its header. */
const safetensors = (header: string, data = 16, length?: bigint): Uint8Array => {
  const text = new TextEncoder().encode(header);
  const file = new Uint8Array(8 + text.length + data);
  new DataView(file.buffer).setBigUint64(0, length ?? BigInt(text.length), true);
  file.set(text, 8);
  return file;
};
const entry = (dtype: string, shape: unknown, start: number, end: number) =>
  ({ dtype, shape, data_offsets: [start, end] }) as const;
const header = (tensors: Record<string, unknown>): string => JSON.stringify(tensors);

describe('safetensors', () => {
  const open = (file: Uint8Array, config: Uint8Array = encode({})): Promise<Checkpoint> =>
    openFiles({ 'config.json': config, 'model.safetensors': file });
  const good = { a: entry('F32', [2], 0, 8), b: entry('F16', [2, 2], 8, 16) };

  it('accepts what is right', async () => {
    using checkpoint = await open(safetensors(header({ __metadata__: { format: 'pt' }, ...good })));
    expect(checkpoint.tensors.get('b')).toEqual({ name: 'b', type: 'F16', shape: [2, 2], bytes: 8 });
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['an empty file', new Uint8Array(0), /truncated: it has 0 bytes, and byte 8/],
    ['a header beyond the file', safetensors('{}', 0, 3n), /header would have 3 bytes, and only 2 follow/],
    ['a header of 2^63 bytes', safetensors('{}', 0, 1n << 63n), /header would have 9223372036854775808 bytes/],
    ['no JSON', safetensors('{"a":', 0), /not JSON/],
    ['a list', safetensors('[]', 0), /not a JSON object/],
    ['truncated data', safetensors(header(good), 15), /truncated: it has \d+ bytes, and byte \d+ is needed/],
    ['data after the end', safetensors(header(good), 17), /1 unused bytes after b/],
    ['an overlap', safetensors(header({ ...good, b: entry('F16', [2, 2], 4, 12) }), 12), /b overlaps a/],
    ['a gap', safetensors(header({ ...good, b: entry('F16', [2, 2], 9, 17) }), 17), /1 unused bytes between a and b/],
    ['an unknown dtype', safetensors(header({ a: entry('F4', [4], 0, 2) })), /a has the dtype F4/],
    ['a GGUF dtype', safetensors(header({ a: entry('Q4_0', [32], 0, 18) })), /a has the dtype Q4_0/],
    ['a wrong size', safetensors(header({ a: entry('F32', [3], 0, 8) })), /a is F32 \[3\]: 12 bytes expected, 8 given/],
    ['a negative shape', safetensors(header({ a: entry('F32', [-2], 0, 8) })), /a has the shape \[-2\]/],
    ['a huge shape', safetensors(header({ a: entry('F32', [2 ** 40, 2 ** 40], 0, 8) })), /a is F32 .* bytes expected/],
    ['offsets the wrong way round', safetensors(header({ a: entry('F32', [2], 8, 0) })), /8 bytes expected, -8 given/],
    [
      'a shape nested beyond what can be printed',
      safetensors(`{"a":{"dtype":"F32","shape":${'['.repeat(20_000)}${']'.repeat(20_000)},"data_offsets":[0,8]}}`),
      /a has the shape \[object Array\]/,
    ],
    ['no offsets', safetensors(header({ a: { dtype: 'F32', shape: [2] } })), /a has the data_offsets undefined/],
    [
      'a repeated name',
      safetensors(`{"a":${header(entry('F32', [2], 0, 8))},"\\u0061":1}`),
      /tensor a is listed twice/,
    ],
    ['a number for a tensor', safetensors('{"a":1}'), /a has no dtype/],
  ])('%s', async (_, file, message) => {
    await expect(open(file)).rejects.toMatchObject({ code: 'bad-checkpoint', message: expect.stringMatching(message) });
  });

  it('a missing or broken config.json, missing weights', async () => {
    const file = safetensors(header(good));
    await expect(openFiles({ 'model.safetensors': file, 'x.txt': file })).rejects.toMatchObject({
      message: expect.stringContaining('config.json is missing'),
      hint: expect.stringContaining('x.txt'),
    });
    await expect(openFiles({})).rejects.toMatchObject({ hint: expect.stringContaining('A model is a folder') });
    await expect(open(file, new TextEncoder().encode('{'))).rejects.toThrow(/config.json: not JSON/);
    await expect(openFiles({ 'config.json': encode({}), 'a.txt': file })).rejects.toThrow(
      /model.safetensors is missing/,
    );
    await expect(openFiles({ 'adapter_config.json': file, 'adapter_model.safetensors': file })).rejects.toMatchObject({
      hint: expect.stringContaining('an adapter (LoRA)'),
    });
    await expect(openFiles({ 'config.json': encode({}), 'onnx/model.onnx': file })).rejects.toMatchObject({
      hint: expect.stringContaining('for ONNX runtimes'),
    });
    await expect(openFiles({ 'config.json': encode({}), 'policy.onnx': file })).rejects.toMatchObject({
      hint: expect.stringContaining('load it as `policy`'),
    });
  });

  it('shards: a missing one, a tensor in the wrong one, a path instead of a name', async () => {
    const index = (map: Record<string, string>): Uint8Array => encode({ weight_map: map });
    const shard = safetensors(header({ a: entry('F32', [2], 0, 8) }), 8);
    const config = encode({});
    const name = 'model.safetensors.index.json';
    const files = { 'config.json': config, '1.safetensors': shard };
    await expect(openFiles({ ...files, [name]: index({ a: '1.safetensors', b: '2.safetensors' }) })).rejects.toThrow(
      /2.safetensors is missing/,
    );
    await expect(openFiles({ ...files, [name]: index({ a: '1.safetensors', b: '1.safetensors' }) })).rejects.toThrow(
      /1.safetensors lacks b/,
    );
    await expect(openFiles({ ...files, [name]: index({ b: '1.safetensors' }) })).rejects.toThrow(/holds a, which/);
    await expect(openFiles({ ...files, [name]: index({ a: '../1.safetensors' }) })).rejects.toThrow(
      /"..\/1.safetensors"/,
    );
    await expect(openFiles({ ...files, [name]: encode({}) })).rejects.toThrow(/no weight_map/);
    await expect(openFiles({ ...files, [name]: index({}) })).rejects.toThrow(`${name}: weight_map names no tensor`);
  });
});

describe('GGUF', () => {
  const metadata = (changes: Record<string, GgufValue | undefined> = {}): Record<string, GgufValue> => {
    const all: Record<string, GgufValue | undefined> = {
      'general.architecture': 'llama',
      'llama.block_count': 1,
      'llama.context_length': 64,
      'llama.embedding_length': 32,
      'llama.feed_forward_length': 64,
      'llama.attention.head_count': 4,
      'llama.attention.layer_norm_rms_epsilon': 1e-5,
      ...changes,
    };
    return Object.fromEntries(Object.entries(all).filter((pair): pair is [string, GgufValue] => pair[1] !== undefined));
  };
  const tensor = (name: string, changes: Partial<GgufTensor> = {}): GgufTensor => ({
    name,
    dimensions: [32, 4],
    type: 0,
    data: new Uint8Array(512),
    ...changes,
  });
  const good = [
    tensor('token_embd.weight'),
    tensor('blk.0.attn_q.weight', { dimensions: [32, 8], data: new Uint8Array(1024) }),
  ];
  const file = (changes: Record<string, GgufValue | undefined> = {}, tensors = good, version = 3): Uint8Array =>
    writeGguf({ version, metadata: metadata(changes), tensors });
  const open = (bytes: Uint8Array): Promise<Checkpoint> => openFiles({ 'model.gguf': bytes });

  it.each([2, 3])('accepts what is right, version %i', async (version) => {
    using checkpoint = await open(file({ 'general.alignment': 64 }, good, version));
    expect([...checkpoint.tensors.keys()]).toEqual([
      'model.embed_tokens.weight',
      'model.layers.0.self_attn.q_proj.weight',
    ]);
    expect(checkpoint.config).toMatchObject({
      head_dim: 8,
      num_key_value_heads: 4,
      rms_norm_eps: 1e-5,
      rope_scaling: null,
    });
  });

  it('accepts a file that was merged from several', async () => {
    using checkpoint = await open(file({ 'split.count': 0 }));
    expect(checkpoint.tensors.size).toBe(2);
  });

  it('rope scaling: linear and yarn; none at factor 1', async () => {
    const scaling = async (changes: Record<string, GgufValue>): Promise<unknown> => {
      using checkpoint = await open(file(changes));
      return checkpoint.config.rope_scaling;
    };
    for (const key of ['scale_linear', 'scaling.factor'])
      expect(await scaling({ [`llama.rope.${key}`]: 2 })).toEqual({ rope_type: 'linear', factor: 2 });
    expect(await scaling({ 'llama.rope.scale_linear': 0 })).toBeNull();
    const of = (type: string, factor: number) => ({
      'llama.rope.scaling.type': type,
      'llama.rope.scaling.factor': factor,
    });
    expect(await scaling(of('linear', 4))).toEqual({ rope_type: 'linear', factor: 4 });
    expect(await scaling(of('yarn', 1))).toBeNull();
    expect(await scaling({ ...of('yarn', 4), 'llama.rope.scaling.original_context_length': 16 })).toEqual({
      rope_type: 'yarn',
      factor: 4,
      original_max_position_embeddings: 16,
      attention_factor: 0.1 * Math.log(4) + 1,
    });
    await expect(scaling(of('longrope', 2))).rejects.toThrow(/longrope is not supported/);
    const mixed = (type: string, part: number) =>
      scaling({ ...of(type, 4), 'llama.rope.scaling.yarn_ext_factor': part });
    expect(await mixed('yarn', 1)).toMatchObject({ rope_type: 'yarn', factor: 4 });
    expect(await mixed('linear', 0)).toEqual({ rope_type: 'linear', factor: 4 });
    for (const part of [0, 0.5]) await expect(mixed('yarn', part)).rejects.toThrow(/YaRN in part is not supported/);
    await expect(mixed('linear', 1)).rejects.toThrow(/YaRN in part is not supported/);
  });

  it('a llama with a sliding window is a Mistral, whose configuration knows no biases', async () => {
    using checkpoint = await open(file({ 'llama.attention.sliding_window': 16 }));
    expect(checkpoint.config).toMatchObject({ architectures: ['MistralForCausalLM'], sliding_window: 16 });
    expect(Object.keys(checkpoint.config).filter((key) => key.endsWith('_bias'))).toEqual([]);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['an empty file', new Uint8Array(0), /truncated, or a wrong length at byte 0/],
    ['another file', new Uint8Array(100).fill(65), /not a GGUF file/],
    ['version 1', file({}, good, 1), /GGUF version 1/],
    ['big-endian', file({}, good, 0x03000000), /big-endian/],
    ['truncated data', file().subarray(0, -1), /truncated: it has \d+ bytes/],
    ['truncated header', file().subarray(0, 200), /truncated, or a wrong length/],
    [
      'an overlap',
      file({}, [good[0] as GgufTensor, { ...(good[1] as GgufTensor), offset: 32 }]),
      /attn_q.weight lies at 32 in the data, expected 512/,
    ],
    [
      'a gap',
      file({}, [good[0] as GgufTensor, { ...(good[1] as GgufTensor), offset: 1024 }]),
      /lies at 1024 in the data, expected 512/,
    ],
    ['a repeated name', file({}, [tensor('output.weight'), tensor('output.weight')]), /output.weight is listed twice/],
    ['an unread type', file({}, [tensor('output.weight', { type: 15 })]), /output.weight has the type Q8_K/],
    ['an unknown type', file({}, [tensor('output.weight', { type: 4 })]), /output.weight has the type number 4/],
    [
      'part of a block',
      file({}, [tensor('output.weight', { type: 2, dimensions: [16, 4] })]),
      /Q4_0 \[4,16\]: rows must be multiples of 32/,
    ],
    [
      'an impossible shape',
      file({}, [tensor('output.weight', { dimensions: [2 ** 40, 2 ** 40] })]),
      /impossible shape/,
    ],
    ['five dimensions', file({}, [tensor('output.weight', { dimensions: [1, 1, 1, 1, 1] })]), /5 dimensions/],
    [
      'an unknown tensor',
      file({}, [...good, tensor('blk.0.ffn_gate_exps.weight')]),
      /blk.0.ffn_gate_exps.weight is not known/,
    ],
    [
      'a scale of NVFP4',
      file({}, [...good, tensor('blk.0.attn_q.scale')]),
      /blk.0.attn_q.scale is the scale of a whole matrix, which is not supported/,
    ],
    ['a wrong alignment', file({ 'general.alignment': 24 }), /general.alignment is 24/],
    ['half an alignment', file({ 'general.alignment': 32.5 }), /general.alignment is 32.5, not a power of two/],
    ['an alignment in words', file({ 'general.alignment': '32' }), /general.alignment is "32", not a power of two/],
    [
      'a number for the architecture',
      file({ 'general.architecture': 7 }),
      /general.architecture is 7, expected a text/,
    ],
    ['a name of a megabyte', file({ 'general.architecture': 'x'.repeat(2 ** 20) }), /^.{1,600}$/],
    ['part of a head', file({ 'llama.attention.head_count': 1.5 }), /head_count is 1.5, expected a positive whole/],
    ['no heads', file({ 'llama.attention.head_count': 0 }), /: llama.attention.head_count is 0, expected a positive/],
    ['an odd head', file({ 'llama.attention.key_length': 3 }), /a head would have 3 elements, expected an even whole/],
    ['a size of nothing', file({ 'llama.context_length': 0 }), /llama.context_length is 0, expected a positive whole/],
    ['no RoPE', file({ 'llama.rope.freq_base': 0 }), /llama.rope.freq_base is 0, expected a positive number/],
    ['an unknown RoPE', file({ 'llama.rope.scaling.type': 'weird' }), /rope.scaling.type weird is not supported/],
    ['a number for a text', file({ 'llama.rope.scaling.type': 3 }), /rope.scaling.type is 3, expected a text/],
    ['a head too wide', file({ 'llama.attention.key_length': 8192 }), /^[^:]*gguf: head_dim is 8192, more than 4096/],
    ['no architecture', file({ 'general.architecture': undefined }), /lacks general.architecture/],
    ['another architecture', file({ 'general.architecture': 'gemma4' }), /architecture gemma4 is not supported/],
    [
      'more layers than tensors',
      file({ 'llama.block_count': 2 ** 31 }),
      /block_count is 2147483648, and there are 2 tensors/,
    ],
    ...[0.5, 2].map((predictors): [string, Uint8Array, RegExp] => [
      `${predictors} of one layer for several tokens at once`,
      file({
        'general.architecture': 'qwen35',
        'qwen35.block_count': 1,
        'qwen35.embedding_length': 32,
        'qwen35.attention.head_count': 4,
        'qwen35.nextn_predict_layers': predictors,
      }),
      /qwen35.block_count is 1, and nextn_predict_layers (0.5|2): that leaves (0.5|-1) layers/,
    ]),
    ['a missing field', file({ 'llama.block_count': undefined }), /lacks llama.block_count/],
    [
      'an unknown field',
      file({ 'llama.attention.temperature_scale': 2 }),
      /llama.attention.temperature_scale is not known/,
    ],
    ['experts', file({ 'llama.expert_count': 8 }), /mixtures of experts/],
    [
      'heads that differ by layer',
      file({ 'llama.attention.head_count_kv': [1, 2] }),
      /head_count_kv is \[1,2\], expected one number/,
    ],
    ['a text for a number', file({ 'llama.block_count': 'x' }), /llama.block_count is "x"/],
    [
      'partial rotation',
      file({ 'llama.rope.dimension_count': 4, 'llama.attention.key_length': 8 }),
      /partial rotation/,
    ],
    ['a part of a split file', file({ 'split.count': 2 }), /counts 2 files, its name 1/],
  ])('%s', async (_, bytes, message) => {
    await expect(open(bytes)).rejects.toMatchObject({
      code: 'bad-checkpoint',
      message: expect.stringMatching(message),
    });
  });

  it('a lying count makes no array', async () => {
    const bytes = file();
    const view = new DataView(bytes.buffer);
    view.setBigUint64(8, 2n ** 40n, true);
    await expect(open(bytes)).rejects.toThrow(/1099511627776 tensors do not fit/);
    view.setBigUint64(8, 2n, true);
    view.setBigUint64(16, 2n ** 63n, true);
    await expect(open(bytes)).rejects.toThrow(/metadata entries do not fit/);
  });

  it('heads that do not divide the rows are noticed before rows move', async () => {
    using checkpoint = await open(file({ 'llama.attention.head_count': 8, 'llama.attention.key_length': 4 }));
    const read = async (): Promise<void> => {
      for await (const _ of checkpoint.stream());
    };
    await expect(read()).rejects.toThrow(/q_proj.weight is \[8,32\]: 8 heads do not divide its rows/);
  });

  it('split files: joined in order, and a missing one named', async () => {
    const split = (count: number): Record<string, GgufValue> => ({ ...metadata(), 'split.count': count });
    const first = writeGguf({ metadata: split(2), tensors: [good[0] as GgufTensor] });
    const second = writeGguf({ metadata: { 'split.count': 2 }, tensors: [good[1] as GgufTensor] });
    const [a, b] = ['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf'];
    using checkpoint = await openFiles({ [b]: second, [a]: first });
    expect([...checkpoint.tensors.keys()]).toHaveLength(2);
    let bytes = 0;
    for await (const block of checkpoint.stream()) bytes += block.raw.length;
    expect(bytes).toBe(checkpoint.bytes);
    // The path of any part opens all.
    const folder = mkdtempSync(join(tmpdir(), 'outrider-split-'));
    writeFileSync(join(folder, a), first);
    writeFileSync(join(folder, b), second);
    for (const part of [a, b]) {
      using whole = await openCheckpoint(await folderSource(join(folder, part)));
      expect([...whole.tensors.keys()]).toEqual([...checkpoint.tensors.keys()]);
    }
    await expect(openFiles({ [a]: first })).rejects.toThrow(/m-00002-of-00002.gguf is missing/);
    await expect(openFiles({ [a]: first, [b]: first })).rejects.toThrow(
      /token_embd|embed_tokens.weight occurs in two files/,
    );
  });

  it('two models in one folder are for the caller to choose from', async () => {
    await expect(openFiles({ 'a.gguf': file(), 'b.gguf': file() })).rejects.toMatchObject({
      code: 'bad-request',
      hint: expect.stringContaining('a.gguf, b.gguf'),
    });
  });
});
