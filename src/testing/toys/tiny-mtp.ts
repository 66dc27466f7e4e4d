// A small Qwen3.5 with an MTP layer, as files in memory. Its next token follows mostly from the last one, and the layer
// passes on the embedding of the token that it is given, so it drafts what the target would write, but not always.
import { tensorSpecs } from '../../model/architecture.ts';
import { readArchitecture, readDrafter } from '../../model/families/families.ts';
import type { Source } from '../../weights/open.ts';
import { noise } from '../device/run-kernel.ts';
import { writeGguf } from '../files/gguf-writer.ts';
import { TINY, TINY_QWEN35 } from './tiny.ts';
import { safetensorsFile, type TinyTensor } from './tiny-family.ts';

type Json = Readonly<Record<string, unknown>>;

const CONFIG: Json = { ...TINY, ...TINY_QWEN35, tie_word_embeddings: false, mtp_num_hidden_layers: 1 };

/** Of tensors by name: what the stream begins with is large, and what is added to it small. */
const SCALES: readonly (readonly [RegExp, number])[] = [
  [/embed_tokens\.weight$/, 16],
  [/(?:o_proj|out_proj|down_proj|mtp\.fc)\.weight$/, 0.5],
];

const tensorsOf = (config: Json): ReadonlyMap<string, TinyTensor> => {
  const random = noise(8);
  const specs = [readArchitecture(config), readDrafter(config).architecture].flatMap(tensorSpecs);
  const tensors = specs.map(({ checkpoint: name, shape }): [string, TinyTensor] => {
    const length = shape.reduce((a, b) => a * b, 1);
    const columns = shape[1] ?? 1;
    const scale =
      shape.length < 2 ? 0.2 : (SCALES.find(([names]) => names.test(name))?.[1] ?? 1.5) / Math.sqrt(columns);
    const middle = (i: number): number => {
      if (name === 'mtp.fc.weight') return i % columns === Math.floor(i / columns) ? 2 : 0;
      return name.endsWith('linear_attn.norm.weight') ? 1 : 0;
    };
    return [name, { shape, values: Float32Array.from({ length }, (_, i) => middle(i) + scale * random()) }];
  });
  return new Map(tensors);
};

const TENSORS = tensorsOf(CONFIG);

export interface TinyMtpOptions {
  /** Fields that replace those of the config. */
  readonly config?: Json;
  /** Changes the tensors before they are written. */
  readonly edit?: (tensors: Map<string, TinyTensor>) => void;
}

/** The model with its layer, and its tensors by name. */
export const tinyMtp = ({ config = {}, edit }: TinyMtpOptions = {}) => {
  const json = { ...CONFIG, ...config };
  const tensors = new Map(TENSORS);
  edit?.(tensors);
  const files = new Map([
    ['config.json', new TextEncoder().encode(JSON.stringify(json))],
    ['model.safetensors', safetensorsFile(tensors)],
  ]);
  return { config: json, tensors, source: { kind: 'bytes', files } satisfies Source };
};

/** ggml's names of the parts of a block. */
const PARTS: Readonly<Record<string, string>> = {
  'mtp.fc': 'nextn.eh_proj',
  'mtp.norm': 'nextn.shared_head_norm',
  'mtp.pre_fc_norm_embedding': 'nextn.enorm',
  'mtp.pre_fc_norm_hidden': 'nextn.hnorm',
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'post_attention_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

/** The layer in a file of its own, as llama.cpp's converter writes it with `--mtp`: norms are stored as 1 + w. */
export const tinyMtpGguf = (extra: Readonly<Record<string, readonly number[]>> = {}): Source => {
  const block = CONFIG.num_hidden_layers as number;
  const nameOf = (name: string): string | null => {
    if (name === 'model.embed_tokens.weight') return 'token_embd.weight';
    const part = /^mtp\./.test(name) ? name.replace(/^mtp\.layers\.0\.|\.weight$/g, '') : '';
    return part === '' ? null : `blk.${block}.${PARTS[part]}.weight`;
  };
  const file = ({ shape, values }: TinyTensor, name: string) => {
    const stored = shape.length < 2 ? values.map((value) => value + 1) : values;
    return { name, dimensions: shape.toReversed(), type: 0, data: new Uint8Array(stored.buffer) };
  };
  const others = Object.entries(extra).map(([name, shape]) =>
    file({ shape, values: new Float32Array(shape.reduce((a, b) => a * b, 1)) }, name),
  );
  const tensors = [...TENSORS].flatMap(([name, tensor]) => {
    const ggml = nameOf(name);
    return ggml === null ? [] : [file(tensor, ggml)];
  });
  const bytes = writeGguf({
    metadata: {
      'general.architecture': 'qwen35',
      'qwen35.block_count': block + 1,
      'qwen35.nextn_predict_layers': 1,
      'qwen35.context_length': CONFIG.max_position_embeddings as number,
      'qwen35.embedding_length': CONFIG.hidden_size as number,
      'qwen35.feed_forward_length': CONFIG.intermediate_size as number,
      'qwen35.attention.head_count': CONFIG.num_attention_heads as number,
      'qwen35.attention.head_count_kv': CONFIG.num_key_value_heads as number,
      'qwen35.attention.key_length': CONFIG.head_dim as number,
      'qwen35.attention.value_length': CONFIG.head_dim as number,
      'qwen35.attention.layer_norm_rms_epsilon': CONFIG.rms_norm_eps as number,
      'qwen35.rope.dimension_count': (CONFIG.head_dim as number) / 4,
      'qwen35.full_attention_interval': 2,
      'qwen35.ssm.conv_kernel': 3,
      'qwen35.ssm.state_size': 8,
      'qwen35.ssm.group_count': 2,
      'qwen35.ssm.time_step_rank': 4,
      'qwen35.ssm.inner_size': 64,
    },
    tensors: [...tensors, ...others],
  });
  return { kind: 'bytes', files: new Map([['mtp-tiny.gguf', bytes]]) };
};
