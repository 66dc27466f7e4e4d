// ggml's tensor names as Hugging Face's, and the order in which a tensor's rows and columns lie in the file.
import { bad } from '../../base/refuse.ts';
import type { Order } from '../order.ts';
import type { GgufFamily } from './families.ts';

const TOP: Readonly<Record<string, string>> = {
  token_embd: 'model.embed_tokens',
  output_norm: 'model.norm',
  output: 'lm_head',
  rope_freqs: 'rope_freqs',
  rope_factors_long: 'rope_factors_long',
  rope_factors_short: 'rope_factors_short',
};
const IN_LAYER: Readonly<Record<string, string>> = {
  attn_norm: 'input_layernorm',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_qkv: 'self_attn.qkv_proj',
  attn_output: 'self_attn.o_proj',
  attn_q_norm: 'self_attn.q_norm',
  attn_k_norm: 'self_attn.k_norm',
  ffn_norm: 'post_attention_layernorm',
  ffn_gate: 'mlp.gate_proj',
  ffn_up: 'mlp.up_proj',
  ffn_down: 'mlp.down_proj',
};

/** Of a block that predicts several tokens at once, what precedes and follows its layer. */
const PREDICTOR: Readonly<Record<string, string>> = {
  'nextn.eh_proj': 'fc',
  'nextn.enorm': 'pre_fc_norm_embedding',
  'nextn.hnorm': 'pre_fc_norm_hidden',
  'nextn.shared_head_norm': 'norm',
  'nextn.embed_tokens': 'embed_tokens',
  'nextn.shared_head_head': 'lm_head',
};

/** Hugging Face's name of gate and up in one tensor, which ggml calls `ffn_up`. */
const GATE_UP = 'mlp.gate_up_proj';

/** Parameters of their own, whose names end without `weight` or `bias`. */
const BARE = ['linear_attn.A_log', 'linear_attn.dt_bias'];

const own = (table: Readonly<Record<string, string>> | undefined, name: string): string | undefined =>
  table && Object.hasOwn(table, name) ? table[name] : undefined;

/**
 * ggml's name → Hugging Face's. `names`: those of all tensors, because an `ffn_up` without `ffn_gate` holds both.
 * `layers`: those of the model; blocks after them predict several tokens at once, and are a drafter.
 */
export const huggingFaceName = (
  name: string,
  names: ReadonlySet<string>,
  family: GgufFamily,
  layers: number,
): string => {
  const [, layer, part, kind = ''] = /^(?:blk\.(\d+)\.)?([\w.]+?)(\.weight|\.bias)?$/.exec(name) ?? [];
  const found =
    part === undefined ? undefined : (own(family.names, part) ?? own(layer === undefined ? TOP : IN_LAYER, part));
  if (layer !== undefined && part !== undefined && Number(layer) >= layers && family.predictors) {
    const shared = own(PREDICTOR, part);
    if (shared) return `mtp.${shared}${kind}`;
    return `mtp.${found ? `layers.${Number(layer) - layers}.${found}${kind}` : name}`;
  }
  if (/\.(?:input_)?scale$/.test(name))
    throw bad(
      `the tensor ${name} is the scale of a whole matrix, which is not supported`,
      'NVFP4 files have such scales. Load a file in another quantisation, such as Q4_K_M or Q8_0.',
    );
  if (found === undefined) throw bad(`the tensor ${name} is not known to Outrider`);
  if (layer === undefined) return found + kind;
  const both = part === 'ffn_up' && found === IN_LAYER.ffn_up && !names.has(`blk.${layer}.ffn_gate${kind}`);
  const at = (family.layer ?? 'model.layers.{i}').replace('{i}', layer);
  return `${at}.${both ? GATE_UP : found}${BARE.includes(found) ? '' : kind}`;
};

/** Null: the tensor lies as Hugging Face's. `elements`: of a block of its type. */
export const orderOf = (
  name: string,
  elements: number,
  family: GgufFamily,
  config: Readonly<Record<string, unknown>>,
): Order | null => {
  if (family.permuted) return pairsOf(name, config);
  return family.regrouped ? groupsOf(name, elements, config) : null;
};

const pairsOf = (name: string, config: Readonly<Record<string, unknown>>): Order | null => {
  const [queries, keys] = [config.num_attention_heads as number, config.num_key_value_heads as number];
  const [, part] = /\.(q|k|qkv)_proj\.(?:weight|bias)$/.exec(name) ?? [];
  if (part === 'q') return { kind: 'pairs', heads: queries, permuted: queries };
  if (part === 'k') return { kind: 'pairs', heads: keys, permuted: keys };
  return part === 'qkv' ? { kind: 'pairs', heads: queries + 2 * keys, permuted: queries + keys } : null;
};

/** The tensors of a delta net, and of ssm_out the columns. ssm_a is −exp(A_log). */
const groupsOf = (name: string, elements: number, config: Readonly<Record<string, unknown>>): Order | null => {
  const [, part] = /\.linear_attn\.(\w+)(?:\.weight)?$/.exec(name) ?? [];
  if (part === undefined || part === 'norm') return null;
  const groups = config.linear_num_key_heads as number;
  const members = (config.linear_num_value_heads as number) / groups;
  const value = part === 'A_log' ? (own: number): number => Math.log(-own) : undefined;
  if (!Number.isInteger(members)) throw bad(`${groups} key heads do not divide the value heads`);
  if (members === 1 && !value) return null;
  const from = part === 'in_proj_qkv' || part === 'conv1d' ? 2 * groups * (config.linear_key_head_dim as number) : 0;
  const columns = (config.linear_value_head_dim as number) % elements === 0 ? 'columns' : 'values';
  const axis = part === 'out_proj' ? columns : 'rows';
  return { kind: 'groups', axis, from, groups, members, ...(value && { value }) };
};
