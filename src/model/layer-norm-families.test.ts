// Families with LayerNorm, parts without a gate, parallel parts and learned positions, at awkward shapes: against a forward
// pass in f64 on the host that is written from their published descriptions and not from the declarations.
import { expect, test } from 'vitest';
import { exactGelu } from '../kernels/matmul/matmul.reference.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { relativeError, scoreRows } from '../testing/goldens/golden.ts';
import { tinyCheckpoint } from '../testing/toys/tiny.ts';
import type { Checkpoint, RowBlock } from '../weights/checkpoint.ts';
import { readArchitecture } from './families/families.ts';
import { checkTensors } from './load/checkpoint-tensors.ts';
import { loadModel } from './load/load-model.ts';

type Vector = readonly number[];
type Json = Readonly<Record<string, unknown>>;

/** Names are stems: of weights and, where the checkpoint has them, biases. Those of a layer follow `at`. */
interface Rules {
  readonly config: Json;
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly at: string;
  /** One tensor holds all three one after the other, or each head's three. */
  readonly attention: readonly [string, string, string] | { readonly whole: string; readonly byHead: boolean };
  readonly output: string;
  readonly norms: readonly [attention: string, feedForward: string | null];
  readonly gate?: string;
  readonly up: string;
  readonly down: string;
  readonly finalNorm: string;
  readonly embedding: string;
  readonly head: string;
  readonly positions?: string;
  /** Matrices of the layers have a row for each input. */
  readonly transposed?: true;
  readonly parallel: boolean;
  readonly activation: (x: number) => number;
  /** Of each head: RoPE rotates its first elements i and i + half, or 2i and 2i + 1; null where there is no rotation. */
  readonly rope: (
    layer: number,
  ) => { readonly rotated: number; readonly base: number; readonly adjacent?: true } | null;
  readonly window?: (layer: number) => number;
  readonly logitScale?: number;
}

/** Queries, keys and values, by head. */
type Projected = readonly [readonly Vector[], readonly Vector[], readonly Vector[]];

const [HIDDEN, LAYERS, VOCABULARY, EPSILON] = [120, 3, 53, 1e-4];

const silu = (x: number): number => x / (1 + Math.exp(-x));
const gelu = (x: number): number => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
const dot = (a: Vector, b: Vector): number => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
const add = (a: Vector, b: Vector): number[] => a.map((x, i) => x + (b[i] as number));

const reference = (weights: ReadonlyMap<string, readonly Vector[]>, tokens: readonly number[], rules: Rules) => {
  const { heads, keyValueHeads, attention, norms, parallel } = rules;
  const headDim = HIDDEN / heads;
  const rowsOf = (name: string): readonly Vector[] => {
    const rows = weights.get(name);
    if (!rows) throw new Error(`no tensor ${name}`);
    return rows;
  };
  const bias = (stem: string): Vector | undefined => weights.get(`${stem}.bias`)?.[0];
  const linear = (stem: string, x: Vector, transposed: boolean = rules.transposed ?? false): number[] => {
    const stored = rowsOf(`${stem}.weight`);
    const rows = transposed ? (stored[0] as Vector).map((_, i) => stored.map((row) => row[i] as number)) : stored;
    return rows.map((row, i) => dot(row, x) + (bias(stem)?.[i] ?? 0));
  };
  const norm = (stem: string, x: Vector): number[] => {
    const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
    const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
    const weight = rowsOf(`${stem}.weight`)[0] as Vector;
    return x.map(
      (v, i) => ((v - mean) / Math.sqrt(variance + EPSILON)) * (weight[i] as number) + (bias(stem)?.[i] ?? 0),
    );
  };
  const split = (x: Vector, size = headDim): number[][] =>
    Array.from({ length: x.length / size }, (_, h) => x.slice(h * size, (h + 1) * size));
  const project = (at: string, x: Vector): Projected => {
    const of = (stem: string): number[][] => split(linear(at + stem, x));
    if (!('whole' in attention)) return [of(attention[0]), of(attention[1]), of(attention[2])];
    const all = linear(at + attention.whole, x);
    const part = (i: number): readonly Vector[] =>
      attention.byHead
        ? split(all, 3 * headDim).map((head) => split(head)[i] as Vector)
        : split(split(all, HIDDEN)[i] as number[]);
    return [part(0), part(1), part(2)];
  };
  const rotate = (x: Vector, position: number, layer: number): number[] => {
    const rope = rules.rope(layer);
    return x.map((value, i) => {
      if (!rope || i >= rope.rotated) return value;
      const { rotated, base, adjacent } = rope;
      const half = rotated / 2;
      const [pair, first, away] = adjacent ? [i >> 1, i % 2 === 0, 1] : [i % half, i < half, half];
      const angle = position / base ** ((2 * pair) / rotated);
      return value * Math.cos(angle) + (first ? -(x[i + away] as number) : (x[i - away] as number)) * Math.sin(angle);
    });
  };
  let stream: Vector[] = tokens.map((token, position) => {
    const row = rowsOf(`${rules.embedding}.weight`)[token] as Vector;
    return rules.positions ? add(row, rowsOf(`${rules.positions}.weight`)[position] as Vector) : row;
  });
  for (let layer = 0; layer < LAYERS; layer++) {
    const at = rules.at.replace('{i}', `${layer}`);
    const inputs = stream.map((x) => norm(at + norms[0], x));
    const projected = inputs.map((x) => project(at, x));
    const keys = projected.map(([, k], i) => k.map((head) => rotate(head, i, layer)));
    const window = rules.window?.(layer) ?? Number.POSITIVE_INFINITY;
    stream = stream.map((x, row) => {
      const mixed = (projected[row] as Projected)[0].flatMap((head, h) => {
        const group = Math.floor(h / (heads / keyValueHeads));
        const query = rotate(head, row, layer);
        const seen = tokens.map((_, i) => i).filter((i) => i <= row && row - i < window);
        const powers = seen.map((i) => Math.exp(dot(query, keys[i]?.[group] as Vector) / Math.sqrt(headDim)));
        const total = powers.reduce((a, b) => a + b, 0);
        return query.map((_, d) =>
          seen.reduce((sum, i, n) => {
            const value = (projected[i] as Projected)[2][group] as Vector;
            return sum + ((powers[n] as number) / total) * (value[d] as number);
          }, 0),
        );
      });
      const attended = add(x, linear(at + rules.output, mixed));
      const read = parallel ? x : attended;
      const input = norms[1] === null ? (inputs[row] as Vector) : norm(at + norms[1], read);
      const up = linear(at + rules.up, input);
      const inner = rules.gate
        ? linear(at + rules.gate, input).map((g, i) => rules.activation(g) * (up[i] as number))
        : up.map(rules.activation);
      return add(attended, linear(at + rules.down, inner));
    });
  }
  return stream.flatMap((x) =>
    linear(rules.head, norm(rules.finalNorm, x), false).map((logit) => logit * (rules.logitScale ?? 1)),
  );
};

const LLAMA = {
  at: 'model.layers.{i}.',
  attention: ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
  output: 'self_attn.o_proj',
  norms: ['input_layernorm', 'post_attention_layernorm'],
  gate: 'mlp.gate_proj',
  up: 'mlp.up_proj',
  down: 'mlp.down_proj',
  finalNorm: 'model.norm',
  embedding: 'model.embed_tokens',
  head: 'lm_head',
  activation: silu,
  parallel: false,
} as const;

const NEOX = {
  at: 'gpt_neox.layers.{i}.',
  attention: { whole: 'attention.query_key_value', byHead: true },
  output: 'attention.dense',
  norms: ['input_layernorm', 'post_attention_layernorm'],
  up: 'mlp.dense_h_to_4h',
  down: 'mlp.dense_4h_to_h',
  finalNorm: 'gpt_neox.final_layer_norm',
  embedding: 'gpt_neox.embed_in',
  head: 'embed_out',
  activation: exactGelu,
} as const;

const heads = (number: number, keyValueHeads = number) => ({ heads: number, keyValueHeads });

const FAMILIES: Readonly<Record<string, Rules>> = {
  'GPT-2': {
    config: { architectures: ['GPT2LMHeadModel'], n_inner: 70, layer_norm_epsilon: EPSILON },
    ...heads(5),
    at: 'transformer.h.{i}.',
    attention: { whole: 'attn.c_attn', byHead: false },
    output: 'attn.c_proj',
    norms: ['ln_1', 'ln_2'],
    up: 'mlp.c_fc',
    down: 'mlp.c_proj',
    finalNorm: 'transformer.ln_f',
    embedding: 'transformer.wte',
    head: 'transformer.wte',
    positions: 'transformer.wpe',
    transposed: true,
    activation: gelu,
    parallel: false,
    rope: () => null,
  },
  'GPT-NeoX': {
    config: { architectures: ['GPTNeoXForCausalLM'], rotary_emb_base: 700 },
    ...heads(5),
    ...NEOX,
    parallel: true,
    rope: () => ({ rotated: 6, base: 700 }),
  },
  'GPT-NeoX, one part after the other': {
    config: {
      architectures: ['GPTNeoXForCausalLM'],
      use_parallel_residual: false,
      rotary_pct: 1,
      attention_bias: false,
      hidden_act: 'gelu_new',
    },
    ...heads(3),
    ...NEOX,
    activation: gelu,
    parallel: false,
    rope: () => ({ rotated: 40, base: 1e4 }),
  },
  Phi: {
    config: { architectures: ['PhiForCausalLM'], partial_rotary_factor: 0.4, num_key_value_heads: 1 },
    ...heads(3, 1),
    ...LLAMA,
    output: 'self_attn.dense',
    norms: ['input_layernorm', null],
    gate: '',
    up: 'mlp.fc1',
    down: 'mlp.fc2',
    finalNorm: 'model.final_layernorm',
    activation: gelu,
    parallel: true,
    rope: () => ({ rotated: 16, base: 1e4 }),
  },
  StarCoder2: {
    config: {
      architectures: ['Starcoder2ForCausalLM'],
      norm_epsilon: EPSILON,
      num_key_value_heads: 1,
      sliding_window: 4,
      tie_word_embeddings: false,
    },
    ...heads(5, 1),
    ...LLAMA,
    gate: '',
    up: 'mlp.c_fc',
    down: 'mlp.c_proj',
    activation: gelu,
    rope: () => ({ rotated: 24, base: 1e4 }),
    window: () => 4,
  },
  StableLM: {
    config: { architectures: ['StableLmForCausalLM'], num_key_value_heads: 1, use_qkv_bias: true },
    ...heads(5, 1),
    ...LLAMA,
    rope: () => ({ rotated: 6, base: 1e4 }),
  },
  'StableLM with parallel parts': {
    config: { architectures: ['StableLmForCausalLM'], num_key_value_heads: 3, use_parallel_residual: true },
    ...heads(3),
    ...LLAMA,
    norms: ['input_layernorm', null],
    parallel: true,
    rope: () => ({ rotated: 10, base: 1e4 }),
  },
  'Command R': {
    config: {
      architectures: ['Cohere2ForCausalLM'],
      num_key_value_heads: 1,
      sliding_window: 4,
      sliding_window_pattern: 2,
      logit_scale: 0.4,
      rope_theta: 900,
    },
    ...heads(3, 1),
    ...LLAMA,
    norms: ['input_layernorm', null],
    head: 'model.embed_tokens',
    parallel: true,
    rope: (layer) => (layer === 1 ? null : { rotated: 40, base: 900, adjacent: true }),
    window: (layer) => (layer === 1 ? Number.POSITIVE_INFINITY : 4),
    logitScale: 0.4,
  },
};

const sizesOf = ({ heads: number, config }: Rules): Json =>
  'n_inner' in config
    ? { n_embd: HIDDEN, n_layer: LAYERS, n_head: number, n_positions: 32, vocab_size: VOCABULARY }
    : {
        hidden_size: HIDDEN,
        intermediate_size: 70,
        num_hidden_layers: LAYERS,
        num_attention_heads: number,
        vocab_size: VOCABULARY,
        max_position_embeddings: 32,
        layer_norm_eps: EPSILON,
      };

const UNSET = Object.fromEntries(
  ['hidden_size', 'intermediate_size', 'num_hidden_layers', 'num_attention_heads', 'num_key_value_heads', 'head_dim']
    .concat('hidden_act', 'max_position_embeddings', 'rms_norm_eps', 'tie_word_embeddings', 'layer_norm_eps')
    .map((name) => [name, null]),
);

test.each(Object.entries(FAMILIES))('%s', async (_, rules) => {
  const gpu = await testGpu();
  const sizes = sizesOf(rules);
  const config = { ...UNSET, ...sizes, ...rules.config };
  if ('norm_epsilon' in config) config.layer_norm_eps = null;
  const weights = new Map<string, readonly Vector[]>();
  for await (const { tensor, decode } of tinyCheckpoint({ config }).stream()) {
    const width = tensor.shape.at(-1) as number;
    const values = [...decode()];
    const rows = Array.from({ length: values.length / width }, (__, i) => values.slice(i * width, (i + 1) * width));
    weights.set(tensor.name, rows);
  }
  using model = await loadModel(gpu, tinyCheckpoint({ config }), { precision: 'f32' });
  expect(model.batchInvariant).toBe(true);
  const tokens = Array.from({ length: 21 }, (__, i) => (i * 29 + 5) % VOCABULARY);
  const expected = Float32Array.from(reference(weights, tokens, rules));
  using cursor = await model.open({ capacity: 32, tapLayers: [-1, 1] });
  const whole = await scoreRows(cursor, tokens);
  expect(relativeError(whole.logits, expected)).toBeLessThan(1e-4);
  for (const chunk of [1, 5]) {
    cursor.rewind(0);
    expect(await scoreRows(cursor, tokens, chunk)).toEqual(whole);
  }
});

const GPT2 = FAMILIES['GPT-2'] as Rules;
const GPT2_CONFIG = { ...UNSET, ...sizesOf(GPT2), ...GPT2.config };

/** The same tensors in blocks of at most seven rows. */
const inBlocks = (checkpoint: Checkpoint): Checkpoint => ({
  ...checkpoint,
  async *stream(options): AsyncGenerator<RowBlock> {
    for await (const block of checkpoint.stream(options)) {
      const values = block.decode();
      const columns = values.length / block.rows;
      for (let firstRow = 0; firstRow < block.rows; firstRow += 7) {
        const part = values.slice(firstRow * columns, (firstRow + 7) * columns);
        const rows = part.length / columns;
        yield { ...block, firstRow, rows, raw: new Uint8Array(part.buffer), decode: () => part.slice() };
      }
    }
  },
});

test('matrices with a row for each input may come in several blocks', async () => {
  const gpu = await testGpu();
  const checkpoint = tinyCheckpoint({ config: GPT2_CONFIG });
  const logitsOf = async (each: Checkpoint) => {
    using model = await loadModel(gpu, each, { precision: 'q8', batchInvariant: true });
    using cursor = await model.open({ capacity: 16 });
    return (await scoreRows(cursor, [3, 14, 15, 9, 26])).logits;
  };
  expect(await logitsOf(inBlocks(checkpoint))).toEqual(await logitsOf(checkpoint));
});

test('GPT-2 as it was published: names without `transformer.`, and masks next to them', () => {
  const { tensors } = tinyCheckpoint({ config: GPT2_CONFIG });
  const bare = new Map([...tensors].map(([name, info]) => [name.replace('transformer.', ''), info]));
  const mask = { name: '', type: 'F32', shape: [1, 1, 32, 32], bytes: 4096 };
  const check = (...more: string[]): void => {
    const all = new Map([...bare, ...more.map((name) => [name, { ...mask, name }] as const)]);
    checkTensors(readArchitecture(GPT2_CONFIG, all), all);
  };
  check('h.0.attn.bias', 'h.1.attn.masked_bias');
  expect(() => check('h.0.attn.q_attn.bias')).toThrow('unknown tensor h.0.attn.q_attn.bias');
});
