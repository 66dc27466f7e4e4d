// Repackages a golden drafter (golden/README.md) as the GGUF that llama.cpp's converter would make of it.
import { readFileSync } from 'node:fs';
import { folderSource } from '../../weights/files/folder.ts';
import type { GgufValue } from '../../weights/gguf/container.ts';
import { openCheckpoint } from '../../weights/open.ts';
import { toHalf } from '../../weights/quantize/half.ts';
import { shared } from '../goldens/shared.ts';
import { type GgufTensor, writeGguf } from './gguf-writer.ts';

type Json = Readonly<Record<string, unknown>>;

export interface GgufDrafterOptions {
  readonly config?: string;
  /** Of matrices; rows that are no multiple of 32 stay F16, as in llama.cpp. */
  readonly type?: 'F32' | 'F16' | 'Q8_0';
  /** Tensors that are left out, by GGUF's names. */
  readonly without?: readonly string[];
  readonly others?: readonly GgufTensor[];
  /** Metadata that replaces the drafter's; undefined leaves a key out. */
  readonly metadata?: Readonly<Record<string, GgufValue | undefined>>;
}

const TOP: Readonly<Record<string, string>> = {
  'embed_tokens.weight': 'token_embd.weight',
  'lm_head.weight': 'output.weight',
  'norm.weight': 'output_norm.weight',
  'hidden_norm.weight': 'enc.output_norm.weight',
  'markov_head.markov_w1.weight': 'markov_w1.weight',
  'markov_head.markov_w2.weight': 'markov_w2.weight',
  'confidence_head.proj.weight': 'conf_proj.weight',
  'confidence_head.proj.bias': 'conf_proj.bias',
  'fc.weight': 'fc.weight',
  d2t: 'd2t',
};

const IN_LAYER: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  hidden_norm: 'attn_norm_2',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

const nameOf = (name: string): string => {
  const [, layer = '0', part = ''] = /^(?:layers\.(\d+)|midlayer)\.([\w.]+)\.weight$/.exec(name) ?? [];
  return TOP[name] ?? `blk.${layer}.${IN_LAYER[part]}.weight`;
};

/** Row i of a head becomes row 2i, row i + half becomes row 2i + 1. */
const permuted = (values: Float32Array, heads: number, columns: number): Float32Array => {
  const out = new Float32Array(values.length);
  const rows = values.length / columns / heads;
  for (let head = 0; head < heads; head++)
    for (let row = 0; row < rows; row++) {
      const to = row < rows / 2 ? 2 * row : 2 * (row - rows / 2) + 1;
      const at = (head * rows + row) * columns;
      out.set(values.subarray(at, at + columns), (head * rows + to) * columns);
    }
  return out;
};

const halves = (values: Float32Array): Uint8Array => new Uint8Array(Uint16Array.from(values, toHalf).buffer);

/** Blocks of 32: an f16 scale and 32 signed bytes. */
const q8 = (values: Float32Array): Uint8Array => {
  const out = new DataView(new ArrayBuffer((values.length / 32) * 34));
  for (let block = 0; block < values.length / 32; block++) {
    const group = values.subarray(block * 32, block * 32 + 32);
    const scale = group.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127;
    out.setUint16(block * 34, toHalf(scale), true);
    for (const [i, x] of group.entries()) out.setInt8(block * 34 + 2 + i, scale === 0 ? 0 : Math.round(x / scale));
  }
  return new Uint8Array(out.buffer);
};

type Encoded = Pick<GgufTensor, 'type' | 'data'>;

const encode = (values: Float32Array, columns: number, type: 'F32' | 'F16' | 'Q8_0'): Encoded => {
  if (type === 'Q8_0' && columns % 32 === 0) return { type: 8, data: q8(values) };
  if (type !== 'F32') return { type: 1, data: halves(values) };
  return { type: 0, data: new Uint8Array(values.slice().buffer) };
};

/** The metadata of a config, flat or in speculators' layout. */
const metadataOf = (config: Json): Record<string, GgufValue | undefined> => {
  const layers = (config.transformer_layer_config ?? config) as Json;
  const dflash = config.dflash_config as Json | undefined;
  const eagle = /eagle/i.test(String(config.architectures));
  const arch = eagle ? 'eagle3' : 'dflash';
  const rope = (layers.rope_parameters ?? layers) as Json;
  const taps = (dflash?.target_layer_ids ?? config.target_layer_ids) as readonly number[] | undefined;
  const entered = (taps?.map((layer) => layer + 1) ?? config.aux_hidden_state_layer_ids) as GgufValue | undefined;
  const common = {
    'general.architecture': arch,
    [`${arch}.block_count`]: layers.num_hidden_layers as number,
    [`${arch}.context_length`]: layers.max_position_embeddings as number,
    [`${arch}.embedding_length`]: layers.hidden_size as number,
    [`${arch}.feed_forward_length`]: layers.intermediate_size as number,
    [`${arch}.attention.head_count`]: layers.num_attention_heads as number,
    [`${arch}.attention.head_count_kv`]: layers.num_key_value_heads as number,
    [`${arch}.attention.key_length`]: layers.head_dim as number,
    [`${arch}.attention.value_length`]: layers.head_dim as number,
    [`${arch}.attention.layer_norm_rms_epsilon`]: layers.rms_norm_eps as number,
    [`${arch}.rope.freq_base`]: rope.rope_theta as number,
    [`${arch}.target_layers`]: entered,
  };
  if (eagle)
    return {
      ...common,
      'eagle3.target_hidden_size': layers.hidden_size as number,
      'eagle3.norm_before_residual': config.norm_before_residual === true,
    };
  return {
    ...common,
    'dflash.block_size': config.block_size as number,
    'dflash.attention.causal': false,
    'tokenizer.ggml.mask_token_id': (dflash ?? config).mask_token_id as number,
    ...(dflash ? {} : { 'dflash.has_confidence_head': config.enable_confidence_head as boolean }),
    ...('sample_from_anchor' in config ? { 'dflash.sample_from_anchor': config.sample_from_anchor as boolean } : {}),
  };
};

export const ggufDrafter = async (name: string, options: GgufDrafterOptions = {}): Promise<Uint8Array<ArrayBuffer>> => {
  const { config: file = 'config.json', type = 'F32', without = [], others = [], metadata = {} } = options;
  const config: Json = JSON.parse(readFileSync(shared('golden', name, file), 'utf8'));
  using checkpoint = await openCheckpoint(await folderSource(shared('golden', name)));
  const layers = (config.transformer_layer_config ?? config) as Json;
  const tensors: GgufTensor[] = [];
  const whole = new Map<string, number[]>();
  for await (const block of checkpoint.stream()) {
    const values = whole.get(block.tensor.name) ?? [];
    whole.set(block.tensor.name, values);
    for (const value of block.decode()) values.push(value);
  }
  const eagle = /eagle/i.test(String(config.architectures));
  for (const [given, numbers] of whole) {
    const ggml = given === 't2d' ? 't2d' : nameOf(given);
    if (ggml === 't2d' || without.includes(ggml)) continue;
    const shape = checkpoint.tensors.get(given)?.shape ?? [];
    const dimensions = shape.toReversed();
    if (ggml === 'd2t') {
      const ids = BigInt64Array.from(numbers, (difference, i) => BigInt(i + difference));
      tensors.push({ name: ggml, dimensions, type: 27, data: new Uint8Array(ids.buffer) });
      continue;
    }
    const columns = shape.at(-1) ?? 1;
    const [, part] = /\.attn_(q|k)\.weight$/.exec(ggml) ?? [];
    const heads = part === 'q' ? layers.num_attention_heads : layers.num_key_value_heads;
    const values = Float32Array.from(numbers);
    const stored = eagle && part !== undefined ? permuted(values, heads as number, columns) : values;
    tensors.push({ name: ggml, dimensions, ...encode(stored, columns, shape.length < 2 ? 'F32' : type) });
  }
  const all = Object.entries({ ...metadataOf(config), ...metadata }).filter(([, value]) => value !== undefined);
  return writeGguf({
    metadata: Object.fromEntries(all) as Record<string, GgufValue>,
    tensors: [...tensors, ...others],
  });
};
