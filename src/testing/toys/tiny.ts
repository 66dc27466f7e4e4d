// Checkpoints of small random models without a file, for tests that need shapes and no reference outputs.

import { tensorSpecs } from '../../model/architecture.ts';
import { isDrafter, readArchitecture, readDrafter } from '../../model/families/families.ts';
import type { Checkpoint, RowBlock, TensorInfo } from '../../weights/checkpoint.ts';
import { matrixShape } from '../../weights/checkpoint.ts';

export const TINY: Readonly<Record<string, unknown>> = {
  architectures: ['Qwen3ForCausalLM'],
  vocab_size: 50,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 16,
  hidden_act: 'silu',
  max_position_embeddings: 160,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
};

/** What makes TINY an EAGLE-3 drafter for itself, of every second token. */
export const TINY_EAGLE3: Readonly<Record<string, unknown>> = {
  architectures: ['LlamaForCausalLMEagle3'],
  num_hidden_layers: 1,
  draft_vocab_size: 25,
  eagle_config: { eagle_aux_hidden_state_layer_ids: [0, 1] },
};

/** Its map: from entry i to token 2i. */
export const EVERY_SECOND: Readonly<Record<'d2t' | 't2d', readonly number[]>> = {
  d2t: Array.from({ length: 25 }, (_, i) => i),
  t2d: Array.from({ length: 50 }, (_, id) => 1 - (id % 2)),
};

/** What makes TINY a model with gated short convolutions. */
export const TINY_LFM2: Readonly<Record<string, unknown>> = {
  architectures: ['Lfm2ForCausalLM'],
  full_attn_idxs: [1],
  conv_L_cache: 3,
  hidden_act: null,
  rms_norm_eps: null,
};

/** What makes TINY a model whose rotation depends on the length of the sequence. */
export const TINY_PHI3: Readonly<Record<string, unknown>> = {
  architectures: ['Phi3ForCausalLM'],
  original_max_position_embeddings: 32,
  partial_rotary_factor: 0.5,
  rope_scaling: { type: 'longrope', short_factor: [1, 1, 1, 1], long_factor: [1, 2, 3, 4] },
};

/** What makes TINY a model with gated delta nets. */
export const TINY_QWEN35: Readonly<Record<string, unknown>> = {
  architectures: ['Qwen3_5ForCausalLM'],
  layer_types: ['linear_attention', 'full_attention'],
  linear_num_key_heads: 2,
  linear_key_head_dim: 8,
  linear_num_value_heads: 4,
  linear_value_head_dim: 16,
  linear_conv_kernel_dim: 3,
};

/** Uniform numbers around zero, the same for the same seed. */
const noise = (count: number, seed: number, spread: number): Float32Array<ArrayBuffer> => {
  let state = seed * 2654435761;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return ((state >>> 8) / 2 ** 24 - 0.5) * 2 * spread;
  });
};

export interface TinyOptions {
  readonly config?: Readonly<Record<string, unknown>>;
  /** Changes the table of tensors before it is served. */
  readonly edit?: (tensors: Map<string, TensorInfo>) => void;
  /** Vectors with these values, besides the random weights. */
  readonly vectors?: Readonly<Record<string, readonly number[]>>;
  /** Called before each block. */
  readonly onBlock?: (index: number) => void;
}

/**
 * A checkpoint of random f32 weights for a config, a model's or a drafter's; matrices are scaled so that activations keep
 * their size.
 */
export const tinyCheckpoint = ({ config = {}, edit, vectors = {}, onBlock }: TinyOptions = {}): Checkpoint => {
  const json = { ...TINY, ...config };
  const tensors = new Map<string, TensorInfo>();
  const architecture = isDrafter(json) ? readDrafter(json).architecture : readArchitecture(json);
  const add = (name: string, shape: readonly number[]) =>
    tensors.set(name, { name, type: 'F32', shape, bytes: shape.reduce((a, b) => a * b, 4) });
  for (const { checkpoint, shape } of tensorSpecs(architecture)) add(checkpoint, shape);
  for (const [name, { length }] of Object.entries(vectors)) add(name, [length]);
  edit?.(tensors);
  const values = ({ name, shape, bytes }: TensorInfo, seed: number): Float32Array<ArrayBuffer> => {
    const given = vectors[name];
    if (given) return Float32Array.from(given);
    if (shape.length < 2 && name.includes('norm')) return noise(bytes / 4, seed, 0.3).map((x) => 1 + x);
    return noise(bytes / 4, seed, shape.length < 2 ? 0.3 : 3 / Math.sqrt(shape[1] as number));
  };
  return {
    format: 'safetensors',
    name: 'tiny',
    version: '',
    bytes: [...tensors.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    config: json,
    tensors,
    async *stream({ signal, wanted } = {}): AsyncGenerator<RowBlock> {
      let index = 0;
      for (const tensor of tensors.values()) {
        if (wanted?.(tensor.name) === false) continue;
        signal?.throwIfAborted();
        onBlock?.(index);
        const data = values(tensor, ++index);
        const { rows } = tensor.shape.length < 2 ? { rows: 1 } : matrixShape(tensor.shape);
        const raw = new Uint8Array(data.buffer);
        yield { tensor, firstRow: 0, rows, raw, decode: () => data.slice(), repacker: () => undefined };
      }
    },
    tokenizer: async () => null,
    generation: async () => ({}),
    [Symbol.dispose]() {},
  };
};
