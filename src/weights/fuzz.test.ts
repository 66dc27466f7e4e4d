// Files come from strangers. Tens of thousands of damaged ones go through everything that reads a file (header, config,
// tokenizer, every band decoded): the outcome is a model or `bad-checkpoint`, soon, and without taking memory.
import { expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { writeGguf } from '../testing/files/gguf-writer.ts';
import { openCheckpoint } from './open.ts';

const INPUTS = 12_000;
const SEED = 20_260_301;

const random = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
};

/** Sizes that overflow something somewhere. */
const EXTREMES = [
  0n,
  1n,
  31n,
  127n,
  255n,
  65535n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 40n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n - 1n,
];
const WORDS = [
  '-1',
  '1e400',
  '1e15',
  'null',
  '{}',
  '[',
  '"',
  '"a"',
  '9007199254740993',
  '0.5',
  'F64',
  '__proto__',
  '\\u0000',
];

const splice = (file: Uint8Array, at: number, remove: number, insert: Uint8Array): Uint8Array => {
  const longer = new Uint8Array(file.length - remove + insert.length);
  longer.set(file.subarray(0, at));
  longer.set(insert, at);
  longer.set(file.subarray(at + remove), at + insert.length);
  return longer;
};

/** One change, mostly within the first `header` bytes. */
const mutate = (file: Uint8Array, header: number, below: (n: number) => number): Uint8Array => {
  const size = file.length;
  const at = below(below(8) ? Math.min(header, size) : size);
  const kind = below(9);
  if (kind === 0) return file.subarray(0, at);
  if (kind === 1) return splice(file, at, Math.min(1 + below(16), size - at), new Uint8Array(0));
  if (kind === 2) return splice(file, at, 0, file.slice(below(size), below(size)));
  if (kind === 3) return splice(file, at, below(2), new TextEncoder().encode(WORDS[below(WORDS.length)] as string));
  const changed = file.slice();
  const view = new DataView(changed.buffer);
  const extreme = EXTREMES[below(EXTREMES.length)] as bigint;
  if (kind === 4 && at + 8 <= size) view.setBigUint64(at, extreme, true);
  else if (kind === 5 && at + 4 <= size) view.setUint32(at, Number(extreme & 0xffffffffn), true);
  else if (kind === 6) changed[at] = below(256);
  else if (kind === 7) changed.copyWithin(at, below(size), below(size));
  else changed[at] = (changed[at] as number) ^ (1 << below(8));
  return changed;
};

const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

const safetensors = (): Uint8Array => {
  const header = encode({
    __metadata__: { format: 'pt' },
    'model.embed_tokens.weight': { dtype: 'F32', shape: [4, 8], data_offsets: [0, 128] },
    'model.norm.weight': { dtype: 'BF16', shape: [8], data_offsets: [128, 144] },
    d2t: { dtype: 'I64', shape: [4], data_offsets: [144, 176] },
    scale: { dtype: 'F8_E4M3', shape: [], data_offsets: [176, 177] },
  });
  const file = new Uint8Array(8 + header.length + 177);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, 8);
  return file;
};

const gguf = (): Uint8Array =>
  writeGguf({
    metadata: {
      'general.architecture': 'llama',
      'llama.block_count': 1,
      'llama.context_length': 64,
      'llama.embedding_length': 32,
      'llama.feed_forward_length': 64,
      'llama.attention.head_count': 4,
      'llama.attention.head_count_kv': [2, 2],
      'llama.attention.layer_norm_rms_epsilon': 1e-5,
      'llama.rope.scaling.type': 'yarn',
      'llama.rope.scaling.factor': 4,
      'tokenizer.ggml.model': 'gpt2',
      'tokenizer.ggml.pre': 'smollm',
      'tokenizer.ggml.tokens': ['a', 'b', 'ab', '<s>'],
      'tokenizer.ggml.token_type': [1, 1, 1, 3],
      'tokenizer.ggml.merges': ['a b'],
      'tokenizer.ggml.bos_token_id': 3,
      'tokenizer.chat_template': '{{ messages }}',
    },
    tensors: [
      { name: 'token_embd.weight', dimensions: [32, 4], type: 8, data: new Uint8Array(136) },
      { name: 'blk.0.attn_q.weight', dimensions: [32, 32], type: 3, data: new Uint8Array(640) },
      { name: 'blk.0.attn_k.bias', dimensions: [16], type: 0, data: new Uint8Array(64) },
      { name: 'output_norm.weight', dimensions: [32], type: 0, data: new Uint8Array(128) },
    ],
  });

/** Everything that can be read, read. */
const readAll = async (files: Map<string, Uint8Array>): Promise<void> => {
  using checkpoint = await openCheckpoint({ kind: 'bytes', files });
  await checkpoint.tokenizer();
  for await (const block of checkpoint.stream()) block.decode();
};

it.each([
  {
    format: 'safetensors',
    base: safetensors(),
    files: (file: Uint8Array) =>
      new Map([
        ['config.json', encode({})],
        ['model.safetensors', file],
      ]),
  },
  { format: 'GGUF', base: gguf(), files: (file: Uint8Array) => new Map([['model.gguf', file]]) },
])(`${INPUTS} damaged $format files: a model or bad-checkpoint`, async ({ format, base, files }) => {
  await readAll(files(base));
  const below = random(SEED);
  let good = 0;
  let slowest = 0;
  let most = 0;
  const messages = new Set<string>();
  for (let i = 0; i < INPUTS; i++) {
    let file = mutate(base, base.length, below);
    for (let more = below(3); more > 0; more--) file = mutate(file, base.length, below);
    const start = process.cpuUsage();
    try {
      await readAll(files(file));
      good++;
    } catch (error) {
      if (!(error instanceof OutriderError) || error.code !== 'bad-checkpoint') throw error;
      messages.add(error.message.replaceAll(/[\d.]+/g, '#').slice(0, 40));
    }
    const { user, system } = process.cpuUsage(start);
    slowest = Math.max(slowest, (user + system) / 1000);
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  }
  console.log(
    `${INPUTS} damaged ${format} files: ${good} still models, ${INPUTS - good} refused in ${messages.size} ways; ` +
      `slowest ${slowest.toFixed(0)} ms of processor time, at most ${(most / 2 ** 20).toFixed(0)} MiB of buffers`,
  );
  // Both outcomes must occur, or the mutations miss the point.
  expect(good).toBeGreaterThan(INPUTS / 100);
  expect(messages.size).toBeGreaterThan(20);
  expect(slowest).toBeLessThan(1000);
  expect(most).toBeLessThan(64 * 2 ** 20);
});
