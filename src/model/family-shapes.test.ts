// The families at awkward shapes, against a forward pass in f64 on the host that is written from their published
// descriptions and not from the declarations: widths that are no multiples of 32, odd groups, small windows.
import { expect, test } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import { relativeError, scoreRows } from '../testing/goldens/golden.ts';
import { TINY_QWEN35, tinyCheckpoint } from '../testing/toys/tiny.ts';
import { loadModel } from './load/load-model.ts';

type Vector = readonly number[];
type Json = Readonly<Record<string, unknown>>;

/** What distinguishes a family here. */
interface Rules {
  readonly config: Json;
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly headDim: number;
  readonly rotated?: number;
  /** RoPE rotates elements 2i and 2i + 1 together instead of i and i + half. */
  readonly adjacent?: boolean;
  readonly norms: 'before' | 'after' | 'both';
  /** Added to norm weights. */
  readonly one?: number;
  readonly queryKeyNorm?: 'head' | 'row' | 'rotated head';
  readonly gelu?: boolean;
  readonly window?: (layer: number) => number;
  /** The base of each layer's RoPE, and what its positions are divided by; null: no rotation. */
  readonly rope?: (layer: number) => readonly [base: number, divisor: number] | null;
  readonly scale?: number;
  readonly scoreCap?: number;
  readonly embeddingScale?: number;
  readonly residualScale?: number;
  readonly logits?: (x: number) => number;
  /** What its tensors are called, and what LLaMA's are. */
  readonly called?: Readonly<Record<string, string>>;
}

const EPSILON = 1e-5;
const HIDDEN = 44;
const LAYERS = 3;
const SIZES = { hidden_size: HIDDEN, intermediate_size: 70, num_hidden_layers: LAYERS, vocab_size: 53 };

const dot = (a: Vector, b: Vector): number => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
const product = (rows: readonly Vector[], x: Vector): number[] => rows.map((row) => dot(row, x));
const rms = (x: Vector, weight: Vector, one: number): number[] => {
  const scale = 1 / Math.sqrt(dot(x, x) / x.length + EPSILON);
  return x.map((value, i) => value * scale * ((weight[i] as number) + one));
};
const silu = (x: number): number => x / (1 + Math.exp(-x));
const gelu = (x: number): number => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
const cap = (x: number, c: number | undefined): number => (c === undefined ? x : c * Math.tanh(x / c));

const reference = (weights: ReadonlyMap<string, readonly Vector[]>, tokens: readonly number[], rules: Rules) => {
  const { heads, keyValueHeads, headDim, norms, one = 0, queryKeyNorm, rotated = headDim } = rules;
  const matrix = (name: string): readonly Vector[] => weights.get(name) as readonly Vector[];
  const vector = (name: string): Vector => matrix(name)[0] as Vector;
  const maybe = (x: Vector, name: string, wanted: boolean): Vector => (wanted ? rms(x, vector(name), one) : x);
  const split = (x: Vector): number[][] =>
    Array.from({ length: x.length / headDim }, (_, h) => x.slice(h * headDim, (h + 1) * headDim));
  const before = norms !== 'after';
  const after = norms !== 'before';
  const rotate = (x: Vector, position: number, layer: number): number[] => {
    const [base, divisor] = rules.rope ? (rules.rope(layer) ?? [0, 0]) : [10_000, 1];
    const half = base === 0 ? 0 : rotated / 2;
    return x.map((value, i) => {
      if (i >= 2 * half) return value;
      const [pair, first] = rules.adjacent ? [Math.floor(i / 2), i % 2 === 0] : [i % half, i < half];
      const angle = position / divisor / base ** ((2 * pair) / rotated);
      const away = rules.adjacent ? 1 : half;
      const partner = first ? -(x[i + away] as number) : (x[i - away] as number);
      return value * Math.cos(angle) + partner * Math.sin(angle);
    });
  };
  const linear = (name: string, x: Vector, rows = matrix(`${name}.weight`)): number[] => {
    const bias = weights.get(`${name}.bias`)?.[0];
    return product(rows, x).map((value, i) => value + (bias?.[i] ?? 0));
  };
  let stream = tokens.map((token) =>
    (matrix('model.embed_tokens.weight')[token] as Vector).map((x) => x * (rules.embeddingScale ?? 1)),
  );
  const add = (x: Vector, y: Vector): number[] => x.map((v, i) => v + (y[i] as number) * (rules.residualScale ?? 1));
  for (let layer = 0; layer < LAYERS; layer++) {
    const at = `model.layers.${layer}`;
    const fused = weights.has(`${at}.self_attn.qkv_proj.weight`);
    const part = (name: string, first: number, count: number): readonly Vector[] =>
      fused
        ? matrix(`${at}.self_attn.qkv_proj.weight`).slice(first * headDim, (first + count) * headDim)
        : matrix(`${at}.self_attn.${name}_proj.weight`);
    const inputs = stream.map((x) => maybe(x, `${at}.input_layernorm.weight`, before));
    const headsOf = (name: string, first: number, count: number, norm: string | null): number[][][] =>
      inputs.map((x, position) => {
        let y: Vector = linear(`${at}.self_attn.${name}_proj`, x, part(name, first, count));
        if (norm === null) return split(y);
        const normed = (z: Vector, when: Rules['queryKeyNorm']): Vector =>
          maybe(z, `${at}.self_attn.${norm}.weight`, queryKeyNorm === when);
        y = normed(y, 'row');
        return split(y).map((head) => [...normed(rotate(normed(head, 'head'), position, layer), 'rotated head')]);
      });
    const late = queryKeyNorm === 'rotated head';
    const q = headsOf('q', 0, heads, late ? 'query_layernorm' : 'q_norm');
    const k = headsOf('k', heads, keyValueHeads, late ? 'key_layernorm' : 'k_norm');
    const v = headsOf('v', heads + keyValueHeads, keyValueHeads, null);
    const window = rules.window?.(layer) ?? Number.POSITIVE_INFINITY;
    stream = stream.map((x, row) => {
      const mixed = (q[row] as number[][]).flatMap((query, h) => {
        const group = Math.floor(h / (heads / keyValueHeads));
        const seen = tokens.map((_, i) => i).filter((i) => i <= row && row - i < window);
        const powers = seen.map((i) =>
          Math.exp(cap(dot(query, k[i]?.[group] as Vector) * (rules.scale ?? headDim ** -0.5), rules.scoreCap)),
        );
        const total = powers.reduce((a, b) => a + b, 0);
        return query.map((_, d) =>
          seen.reduce((sum, i, n) => sum + ((powers[n] as number) / total) * (v[i]?.[group]?.[d] as number), 0),
        );
      });
      const out = linear(`${at}.self_attn.o_proj`, mixed);
      return add(x, maybe(out, `${at}.post_attention_layernorm.weight`, after));
    });
    const early = norms === 'both' ? 'pre_feedforward_layernorm' : 'post_attention_layernorm';
    const gateUp = weights.get(`${at}.mlp.gate_up_proj.weight`) ?? weights.get(`${at}.shared_mlp.input_linear.weight`);
    const down = weights.get(`${at}.shared_mlp.output_linear.weight`) ?? matrix(`${at}.mlp.down_proj.weight`);
    const gate = gateUp?.slice(0, 70) ?? matrix(`${at}.mlp.gate_proj.weight`);
    const up = gateUp?.slice(70) ?? matrix(`${at}.mlp.up_proj.weight`);
    stream = stream.map((x) => {
      const y = maybe(x, `${at}.${early}.weight`, before);
      const ups = linear(`${at}.mlp.up_proj`, y, up);
      const inner = linear(`${at}.mlp.gate_proj`, y, gate).map(
        (g, i) => (rules.gelu ? gelu : silu)(g) * (ups[i] as number),
      );
      const out = linear(`${at}.mlp.down_proj`, inner, down);
      return add(x, maybe(out, `${at}.post_feedforward_layernorm.weight`, after));
    });
  }
  return stream.flatMap((x) =>
    product(matrix('model.embed_tokens.weight'), rms(x, vector('model.norm.weight'), one)).map(
      rules.logits ?? ((logit) => logit),
    ),
  );
};

/** As LLaMA has them: names, and queries, keys and values in tensors of their own. */
const asLlama = (weights: ReadonlyMap<string, readonly Vector[]>, rules: Rules): Map<string, readonly Vector[]> => {
  const { heads, keyValueHeads, headDim, called = {} } = rules;
  const group = heads / keyValueHeads;
  const parts = { q: [0, group], k: [group, 1], v: [group + 1, 1] } as const;
  return new Map(
    [...weights].flatMap(([full, rows]) => {
      const name = Object.entries(called).reduce((now, [own, llama]) => now.replace(own, llama), full);
      if (!name.includes('wqkv')) return [[name, rows] as const];
      // A bias is one row.
      const values = name.endsWith('bias') ? (rows[0] as Vector).map((value) => [value]) : rows;
      return Object.entries(parts).map(([part, [from, count]]) => {
        const own = Array.from({ length: keyValueHeads }, (_, i) => {
          const first = (i * (group + 2) + from) * headDim;
          return values.slice(first, first + count * headDim);
        }).flat();
        const split = name.endsWith('bias') ? [own.flat()] : own;
        return [name.replace('wqkv', `${part}_proj`), split] as const;
      });
    }),
  );
};

const heads = (num_attention_heads: number, num_key_value_heads: number, head_dim: number) => ({
  config: { num_attention_heads, num_key_value_heads, head_dim },
  rules: { heads: num_attention_heads, keyValueHeads: num_key_value_heads, headDim: head_dim },
});
const wide = heads(6, 2, 24);
const odd = heads(3, 3, 40);
const one = heads(5, 1, 8);

const MULTIPLIERS = {
  config: { attention_multiplier: 0.31, embedding_multiplier: 2.5, residual_multiplier: 0.7, logits_scaling: 3 },
  rules: { scale: 0.31, embeddingScale: 2.5, residualScale: 0.7, logits: (x: number) => x / 3 },
};

const FAMILIES: Readonly<Record<string, Rules>> = {
  'llama with biases': {
    config: { ...wide.config, architectures: ['LlamaForCausalLM'], attention_bias: true, mlp_bias: true },
    ...wide.rules,
    norms: 'before',
  },
  gemma: {
    config: { ...odd.config, architectures: ['GemmaForCausalLM'], hidden_act: 'gelu' },
    ...odd.rules,
    norms: 'before',
    one: 1,
    gelu: true,
    embeddingScale: Math.sqrt(HIDDEN),
  },
  gemma3: {
    config: {
      ...wide.config,
      architectures: ['Gemma3ForCausalLM'],
      query_pre_attn_scalar: 30,
      sliding_window: 3,
      sliding_window_pattern: 2,
      rope_theta: 5e5,
      rope_local_base_freq: 300,
      rope_scaling: { rope_type: 'linear', factor: 3 },
      hidden_act: null,
    },
    ...wide.rules,
    norms: 'both',
    one: 1,
    queryKeyNorm: 'head',
    gelu: true,
    window: (layer) => (layer % 2 === 1 ? Number.POSITIVE_INFINITY : 3),
    rope: (layer) => (layer % 2 === 1 ? [5e5, 3] : [300, 1]),
    scale: 30 ** -0.5,
    embeddingScale: Math.sqrt(HIDDEN),
  },
  gemma2: {
    config: {
      ...odd.config,
      architectures: ['Gemma2ForCausalLM'],
      query_pre_attn_scalar: 7,
      sliding_window: 4,
      attn_logit_softcapping: 1.5,
      final_logit_softcapping: 20,
      hidden_act: null,
    },
    ...odd.rules,
    norms: 'both',
    one: 1,
    gelu: true,
    window: (layer) => (layer % 2 === 0 ? 4 : Number.POSITIVE_INFINITY),
    scale: 7 ** -0.5,
    scoreCap: 1.5,
    embeddingScale: Math.sqrt(HIDDEN),
    logits: (x) => cap(x, 20),
  },
  phi3: {
    config: { ...odd.config, architectures: ['Phi3ForCausalLM'], partial_rotary_factor: 0.55, sliding_window: 5 },
    ...odd.rules,
    rotated: 22,
    norms: 'before',
    window: () => 5,
  },
  smollm3: {
    config: { ...one.config, architectures: ['SmolLM3ForCausalLM'], no_rope_layers: [0, 1, 0], rope_theta: 1e6 },
    ...one.rules,
    norms: 'before',
    rope: (layer) => (layer === 1 ? [1e6, 1] : null),
  },
  granite: {
    config: { ...wide.config, ...MULTIPLIERS.config, architectures: ['GraniteForCausalLM'] },
    ...wide.rules,
    ...MULTIPLIERS.rules,
    norms: 'before',
  },
  'granite 4': {
    config: {
      ...odd.config,
      ...MULTIPLIERS.config,
      architectures: ['GraniteMoeHybridForCausalLM'],
      intermediate_size: 9,
      shared_intermediate_size: 70,
      layer_types: Array(LAYERS).fill('attention'),
      num_local_experts: 0,
      position_embedding_type: 'rope',
    },
    ...odd.rules,
    ...MULTIPLIERS.rules,
    norms: 'before',
  },
  olmo2: {
    config: { ...one.config, architectures: ['Olmo2ForCausalLM'] },
    ...one.rules,
    norms: 'after',
    queryKeyNorm: 'row',
  },
  olmo3: {
    config: { ...odd.config, architectures: ['Olmo3ForCausalLM'], sliding_window: 4, rope_theta: 900 },
    ...odd.rules,
    norms: 'after',
    queryKeyNorm: 'row',
    window: () => 4,
    rope: () => [900, 1],
  },
  'hunyuan with biases': {
    config: {
      ...wide.config,
      architectures: ['HunYuanDenseV1ForCausalLM'],
      attention_bias: true,
      rope_scaling: { type: 'dynamic', alpha: 20, factor: 1 },
    },
    ...wide.rules,
    norms: 'before',
    queryKeyNorm: 'rotated head',
    rope: () => [10_000 * 20 ** (24 / 22), 1],
  },
  glm: {
    config: { ...wide.config, architectures: ['GlmForCausalLM'] },
    ...wide.rules,
    norms: 'before',
    rotated: 12,
    adjacent: true,
  },
  glm4: {
    config: { ...wide.config, architectures: ['Glm4ForCausalLM'] },
    ...wide.rules,
    norms: 'both',
    rotated: 12,
    adjacent: true,
    called: {
      post_attention_layernorm: 'pre_feedforward_layernorm',
      post_self_attn_layernorm: 'post_attention_layernorm',
      post_mlp_layernorm: 'post_feedforward_layernorm',
    },
  },
  'internlm2 with biases': {
    config: { ...wide.config, architectures: ['InternLM2ForCausalLM'], bias: true },
    ...wide.rules,
    norms: 'before',
    called: {
      tok_embeddings: 'embed_tokens',
      attention_norm: 'input_layernorm',
      ffn_norm: 'post_attention_layernorm',
      'attention.wqkv': 'self_attn.wqkv',
      'attention.wo': 'self_attn.o_proj',
      'feed_forward.w1': 'mlp.gate_proj',
      'feed_forward.w3': 'mlp.up_proj',
      'feed_forward.w2': 'mlp.down_proj',
    },
  },
  'ernie4_5 with biases': {
    config: { ...odd.config, architectures: ['Ernie4_5ForCausalLM'], use_bias: true, rope_theta: 700 },
    ...odd.rules,
    norms: 'before',
    adjacent: true,
    rope: () => [700, 1],
  },
  exaone4: {
    config: {
      ...odd.config,
      architectures: ['Exaone4ForCausalLM'],
      sliding_window: 4,
      sliding_window_pattern: 'LG',
      rope_theta: 3e4,
    },
    ...odd.rules,
    norms: 'after',
    queryKeyNorm: 'head',
    window: (layer) => (layer === 1 ? Number.POSITIVE_INFINITY : 4),
    rope: (layer) => (layer === 1 ? null : [3e4, 1]),
  },
};

/** A family with heads of another size. */
const resized = (family: string, headDim: number, others: Partial<Rules> = {}): readonly [string, Rules] => {
  const rules = FAMILIES[family] as Rules;
  return [
    `${family}, heads of ${headDim}`,
    { ...rules, ...others, headDim, config: { ...rules.config, head_dim: headDim } },
  ];
};

/** Heads that are no multiples of eight, which are padded on the device. */
const PADDED = [
  resized('llama with biases', 12),
  resized('gemma3', 20),
  resized('olmo2', 12),
  resized('hunyuan with biases', 10, { rope: () => [10_000 * 20 ** (10 / 8), 1] }),
  resized('glm', 20, { rotated: 10 }),
  resized('internlm2 with biases', 6),
  resized('exaone4', 2),
];

test.each([...Object.entries(FAMILIES), ...PADDED])('%s', async (_, rules) => {
  const gpu = await testGpu();
  const config = { ...SIZES, rms_norm_eps: EPSILON, ...rules.config };
  const weights = new Map<string, readonly Vector[]>();
  for await (const { tensor, decode } of tinyCheckpoint({ config }).stream()) {
    const width = tensor.shape.at(-1) as number;
    const values = [...decode()];
    const rows = values.length / width;
    weights.set(
      tensor.name,
      Array.from({ length: rows }, (__, i) => values.slice(i * width, (i + 1) * width)),
    );
  }
  using model = await loadModel(gpu, tinyCheckpoint({ config }), { precision: 'f32' });
  expect(model.batchInvariant).toBe(true);
  const tokens = Array.from({ length: 13 }, (__, i) => (i * 29 + 5) % 53);
  const expected = Float32Array.from(reference(asLlama(weights, rules), tokens, rules));
  using cursor = await model.open({ capacity: 32 });
  const { logits } = await scoreRows(cursor, tokens, 4);
  expect(relativeError(logits, expected)).toBeLessThan(1e-3);
});

test('qwen3_5 with biases: those of queries and gates lie head by head in one tensor', async () => {
  const gpu = await testGpu();
  const at = 'model.layers.1.self_attn';
  const logits = async (queries: number, gates: number, values: number) => {
    const head = [...Array<number>(16).fill(queries), ...Array<number>(16).fill(gates)];
    const vectors = {
      [`${at}.q_proj.bias`]: [...head, ...head],
      [`${at}.v_proj.bias`]: Array<number>(16).fill(values),
    };
    const checkpoint = tinyCheckpoint({ config: { ...TINY_QWEN35, attention_bias: true }, vectors });
    using model = await loadModel(gpu, checkpoint, { precision: 'f32', batchInvariant: true });
    using cursor = await model.open({ capacity: 8 });
    return (await scoreRows(cursor, [3, 14, 15, 9], 4)).logits;
  };
  const open = await logits(0, 0, 0);
  expect(await logits(0, 0, 9)).not.toEqual(open);
  expect(await logits(4, 0, 0)).not.toEqual(open);
  // Closed gates let nothing of the layer's values through.
  const closed = await logits(0, -1e4, 0);
  expect(closed).not.toEqual(open);
  expect(await logits(4, -1e4, 9)).toEqual(closed);
});
