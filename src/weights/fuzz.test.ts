// Files come from strangers. Tens of thousands of damaged ones go through everything that reads a file (header, config,
// tokenizer, every row block decoded): the outcome is a model or `bad-checkpoint`, soon, and without taking memory.
import { expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { writeGguf } from '../testing/files/gguf-writer.ts';
import { writeTorch } from '../testing/files/torch-writer.ts';
import { inputs, Watch } from '../testing/fuzz/inputs.ts';
import { mutateBytes } from '../testing/fuzz/mutate-bytes.ts';
import { random } from '../testing/fuzz/random.ts';
import { openCheckpoint } from './open.ts';

const INPUTS = inputs(6_000);
const SEED = 20_260_301;

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
  {
    format: 'PyTorch',
    base: writeTorch([
      { name: 'fc.weight', storage: 'HalfStorage', shape: [4, 8], data: new Uint8Array(64) },
      { name: 'd2t', storage: 'LongStorage', shape: [4], data: new Uint8Array(32) },
    ]),
    files: (file: Uint8Array) =>
      new Map([
        ['config.json', encode({})],
        ['pytorch_model.bin', file],
      ]),
  },
  { format: 'GGUF', base: gguf(), files: (file: Uint8Array) => new Map([['model.gguf', file]]) },
])(`${INPUTS} damaged $format files: a model or bad-checkpoint`, async ({ format, base, files }) => {
  await readAll(files(base));
  const below = random(SEED);
  let good = 0;
  const watch = new Watch();
  const messages = new Set<string>();
  for (let i = 0; i < INPUTS; i++) {
    let file = mutateBytes(base, base.length, below);
    for (let more = below(3); more > 0; more--) file = mutateBytes(file, base.length, below);
    try {
      await watch.input(() => readAll(files(file)));
      good++;
    } catch (error) {
      if (!(error instanceof OutriderError) || error.code !== 'bad-checkpoint') throw error;
      messages.add(error.message.replaceAll(/[\d.]+/g, '#').slice(0, 40));
    }
  }
  console.log(`${INPUTS} damaged ${format} files: ${good} still models, refused in ${messages.size} ways, ${watch}`);
  // Both outcomes must occur, or the mutations miss the point.
  expect(good).toBeGreaterThan(INPUTS / 100);
  expect(messages.size).toBeGreaterThan(20);
  watch.check();
});
