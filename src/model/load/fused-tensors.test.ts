// Checkpoints that keep several weights in one tensor (Phi-3's `qkv_proj` and `gate_up_proj`, GGUF's `attn_qkv` and
// `ffn_up`): the family names the tensor for each of them, and every bit is that of the same weights in tensors of
// their own.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gpu } from '../../gpu/device.ts';
import { testGpu } from '../../testing/device/gpu.ts';
import { type GgufTensor, writeGguf } from '../../testing/files/gguf-writer.ts';
import { TINY, tinyCheckpoint } from '../../testing/toys/tiny.ts';
import type { Checkpoint, RowBlock, TensorInfo } from '../../weights/checkpoint.ts';
import { openCheckpoint } from '../../weights/open.ts';
import type { Precision } from '../../weights/quantize/quantize.ts';
import { type Architecture, type Attention, tensorSpecs } from '../architecture.ts';
import { Arena } from '../arena.ts';
import { Config } from '../families/config.ts';
import { readDecoder } from '../families/decoder.ts';
import { readArchitecture } from '../families/families.ts';
import { readWindows } from '../families/windows.ts';
import { Transformer } from '../transformer.ts';
import { checkTensors, prepareWeights, streamWeights } from './checkpoint-tensors.ts';
import { weightBytes } from './estimate.ts';
import { loadModel } from './load-model.ts';

const LLAMA = { ...TINY, architectures: ['LlamaForCausalLM'], attention_bias: true };
const AT = 'model.layers.{i}';

/** A family whose q, k and v lie in one tensor, and gate and up in another. */
const readFused = (config: Readonly<Record<string, unknown>>, bias: Attention['bias']): Architecture => {
  const read = new Config(config);
  for (const field of ['attention_bias', 'mlp_bias']) read.flag(field, false);
  const qkv = `${AT}.self_attn.qkv_proj`;
  const gateUp = `${AT}.mlp.gate_up_proj.weight`;
  return readDecoder(read, {
    family: 'fused',
    bias,
    windows: readWindows(read),
    names: {
      query: `${qkv}.weight`,
      key: `${qkv}.weight`,
      value: `${qkv}.weight`,
      queryBias: `${qkv}.bias`,
      keyBias: `${qkv}.bias`,
      valueBias: `${qkv}.bias`,
      gate: gateUp,
      up: gateUp,
    },
  });
};

const bytesOf = (values: Float32Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => new Uint8Array(values.buffer);

/** The same weights under the tensors of a declaration; `rows` a block. */
const fuse = async (checkpoint: Checkpoint, apart: Architecture, fused: Architecture, rows: number) => {
  const data = new Map<string, Float32Array>();
  for await (const block of checkpoint.stream()) data.set(block.tensor.name, block.decode());
  const nameOf = new Map(
    tensorSpecs(apart).flatMap(({ checkpoint: name, weights }) => weights.map((w) => [key(w), name])),
  );
  const tensors = new Map<string, TensorInfo>();
  const values = new Map<string, Float32Array<ArrayBuffer>>();
  for (const { checkpoint: name, shape, weights } of tensorSpecs(fused)) {
    const joined = weights.flatMap((weight) => [...(data.get(nameOf.get(key(weight)) as string) as Float32Array)]);
    tensors.set(name, { name, type: 'F32', shape, bytes: joined.length * 4 });
    values.set(name, Float32Array.from(joined));
  }
  async function* stream(): AsyncGenerator<RowBlock> {
    for (const tensor of tensors.values()) {
      const all = values.get(tensor.name) as Float32Array<ArrayBuffer>;
      const vector = tensor.shape.length < 2;
      const columns = vector ? all.length : (tensor.shape[1] as number);
      const most = vector ? 1 : rows;
      for (let firstRow = 0; firstRow < all.length / columns; firstRow += most) {
        const part = all.slice(firstRow * columns, (firstRow + most) * columns);
        const count = part.length / columns;
        yield {
          tensor,
          firstRow,
          rows: count,
          raw: bytesOf(part),
          decode: () => part.slice(),
          repacker: () => undefined,
        };
      }
    }
  }
  return { ...checkpoint, tensors, stream } satisfies Checkpoint;
};

const key = ({ name, layer }: { readonly name: string; readonly layer: number | null }): string => `${layer} ${name}`;

let gpu: Gpu;
beforeAll(async () => {
  gpu = await testGpu();
});

const loaded: Disposable[] = [];
afterAll(() => {
  for (const each of loaded) each[Symbol.dispose]();
});

/** As `loadModel` does, of a family that no config names. */
const loadAs = async (architecture: Architecture, checkpoint: Checkpoint, precision?: Precision) => {
  checkTensors(architecture, checkpoint.tensors);
  const arena = new Arena(gpu);
  const { weights, sinks, tuning } = await prepareWeights(gpu, arena, checkpoint, architecture, { precision });
  const model = new Transformer({ gpu, architecture, weights, tuning, arena });
  loaded.push(model);
  await Promise.all([model.ready(), streamWeights(gpu, checkpoint, sinks, {})]);
  return model;
};

const logitsOf = async (model: Transformer): Promise<Float32Array> => {
  using cursor = await model.open({ capacity: 32 });
  return await cursor.forward({ tokens: [3, 14, 15, 9, 26], parents: [-1, 0, 1, 2, 3] }).logits.read();
};

describe('safetensors', () => {
  test.each(['f32', 'q8', 'q4'] as const)('at %s', async (precision) => {
    const apart = readArchitecture(LLAMA);
    const fused = readFused(LLAMA, { queryKeyValue: true, output: true });
    using reference = await loadModel(gpu, tinyCheckpoint({ config: LLAMA }), { precision, batchInvariant: true });
    const expected = await logitsOf(reference);
    // Whole tensors, and blocks that end within a weight.
    for (const rows of [1000, 7]) {
      const checkpoint = await fuse(tinyCheckpoint({ config: LLAMA }), apart, fused, rows);
      const model = await loadAs(fused, checkpoint, precision);
      expect(await logitsOf(model)).toEqual(expected);
      expect(model.bytes).toBe(reference.bytes);
      expect(weightBytes(fused, checkpoint, precision)).toBe(
        weightBytes(apart, tinyCheckpoint({ config: LLAMA }), precision),
      );
    }
  });

  test('a wrong shape is named with what the tensor holds', async () => {
    const fused = readFused(LLAMA, { queryKeyValue: true, output: true });
    const checkpoint = await fuse(tinyCheckpoint({ config: LLAMA }), readArchitecture(LLAMA), fused, 1000);
    const name = 'model.layers.1.self_attn.qkv_proj.weight';
    const tensors = new Map(checkpoint.tensors);
    tensors.set(name, { ...(tensors.get(name) as TensorInfo), shape: [32, 32] });
    expect(() => checkTensors(fused, tensors)).toThrow(
      expect.objectContaining({
        code: 'bad-checkpoint',
        message: `${name}: expected [64, 32], found [32, 32]`,
        hint: 'Its rows are query, key, value, in this order.',
      }),
    );
    tensors.delete(name);
    expect(() => checkTensors(fused, tensors)).toThrow(`tensor ${name} is missing`);
  });
});

/** ggml's numbers of types, bytes of a block of 32, and where its f16 scale is followed by the values. */
const TYPES = { F32: [0, 128], Q8_0: [8, 34], Q4_0: [2, 18] } as const;
type Type = keyof typeof TYPES;

/** Rows of random blocks with a small scale. */
const randomRows = (rows: number, columns: number, type: Type, seed: number): Uint8Array => {
  const [, size] = TYPES[type];
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 16) & 0xff;
  };
  if (type === 'F32') return bytesOf(Float32Array.from({ length: rows * columns }, () => 1 + random() / 1000));
  const bytes = Uint8Array.from({ length: (rows * columns * size) / 32 }, random);
  for (let at = 0; at < bytes.length; at += size) bytes.set([0, type === 'Q8_0' ? 0x14 : 0x24], at);
  return bytes;
};

/** A GGUF file of a tiny model; `fused` joins the very bytes of q, k and v, and of gate and up. */
const tinyGguf = (family: 'llama' | 'qwen2', type: Type, fused: boolean): Uint8Array<ArrayBuffer> => {
  const [hidden, heads, keyValueHeads, headDim, wide] = [64, 4, 2, 16, 96];
  let seed = 0;
  const bytes = (rows: number, columns = hidden): Uint8Array => randomRows(rows, columns, type, ++seed);
  const matrix = (name: string, parts: readonly Uint8Array[], columns = hidden): GgufTensor => {
    const data = Uint8Array.from(parts.flatMap((part) => [...part]));
    const [id, size] = TYPES[type];
    return { name: `${name}.weight`, dimensions: [columns, (data.length * 32) / size / columns], type: id, data };
  };
  const norm = (name: string, kind = 'weight', length = hidden): GgufTensor => ({
    name: `${name}.${kind}`,
    dimensions: [length],
    type: 0,
    data: randomRows(1, length, 'F32', ++seed),
  });
  const layers = [0, 1].flatMap((layer) => {
    const at = `blk.${layer}`;
    const [q, k, v] = [heads, keyValueHeads, keyValueHeads].map((count) => bytes(count * headDim));
    const [gate, up] = [bytes(wide), bytes(wide)];
    const biases = family === 'qwen2' ? [heads, keyValueHeads, keyValueHeads].map((n) => n * headDim) : [];
    const [qb, kb, vb] = biases.map((length, i) => norm(`${at}.attn_${'qkv'[i]}`, 'bias', length));
    const joined = [qb, kb, vb].flatMap((bias) => [...(bias?.data ?? [])]);
    return [
      norm(`${at}.attn_norm`),
      norm(`${at}.ffn_norm`),
      ...(fused
        ? [matrix(`${at}.attn_qkv`, [q, k, v] as Uint8Array[]), matrix(`${at}.ffn_up`, [gate, up] as Uint8Array[])]
        : [
            matrix(`${at}.attn_q`, [q as Uint8Array]),
            matrix(`${at}.attn_k`, [k as Uint8Array]),
            matrix(`${at}.attn_v`, [v as Uint8Array]),
            matrix(`${at}.ffn_gate`, [gate as Uint8Array]),
            matrix(`${at}.ffn_up`, [up as Uint8Array]),
          ]),
      ...(family === 'llama'
        ? []
        : fused
          ? [{ name: `${at}.attn_qkv.bias`, dimensions: [joined.length / 4], type: 0, data: Uint8Array.from(joined) }]
          : ([qb, kb, vb] as GgufTensor[])),
      matrix(`${at}.attn_output`, [bytes(hidden)]),
      matrix(`${at}.ffn_down`, [bytes(hidden, wide)], wide),
    ];
  });
  return writeGguf({
    metadata: {
      'general.architecture': family,
      [`${family}.block_count`]: 2,
      [`${family}.embedding_length`]: hidden,
      [`${family}.feed_forward_length`]: wide,
      [`${family}.context_length`]: 128,
      [`${family}.attention.head_count`]: heads,
      [`${family}.attention.head_count_kv`]: keyValueHeads,
      [`${family}.attention.layer_norm_rms_epsilon`]: 0.00001,
    },
    tensors: [matrix('token_embd', [bytes(50)]), norm('output_norm'), ...layers],
  });
};

describe('GGUF', () => {
  // llama permutes the rows of q and k, and not those of v; qwen2 has biases.
  test.each([
    ['llama', 'Q8_0'],
    ['llama', 'Q4_0'],
    ['llama', 'F32'],
    ['qwen2', 'Q8_0'],
    ['qwen2', 'F32'],
  ] as const)('%s, %s', async (family, type) => {
    const open = (fused: boolean) =>
      openCheckpoint({ kind: 'bytes', files: new Map([['tiny.gguf', tinyGguf(family, type, fused)]]) });
    using apart = await open(false);
    using fused = await open(true);
    using reference = await loadModel(gpu, apart, { batchInvariant: true });
    const model = await loadAs(readFused(fused.config, { queryKeyValue: family === 'qwen2', output: false }), fused);
    const [expected, actual] = [await logitsOf(reference), await logitsOf(model)];
    expect(actual).toEqual(expected);
    expect(new Set(actual.slice(0, 50)).size).toBeGreaterThan(40); // not all of them zero
  });
});
