// What the pre-norm decoders of the LLaMA line share: sizes, names, tied heads. A family file states what differs.
import type { Architecture, Attention, Sizes, SlotName } from '../architecture.ts';
import type { Rope } from '../rope.ts';
import type { Config } from './config.ts';
import { readRope } from './rope-config.ts';

const NAMES: Readonly<Record<SlotName, string>> = {
  embedding: 'model.embed_tokens.weight',
  attentionNorm: 'model.layers.{i}.input_layernorm.weight',
  query: 'model.layers.{i}.self_attn.q_proj.weight',
  key: 'model.layers.{i}.self_attn.k_proj.weight',
  value: 'model.layers.{i}.self_attn.v_proj.weight',
  queryBias: 'model.layers.{i}.self_attn.q_proj.bias',
  keyBias: 'model.layers.{i}.self_attn.k_proj.bias',
  valueBias: 'model.layers.{i}.self_attn.v_proj.bias',
  queryNorm: 'model.layers.{i}.self_attn.q_norm.weight',
  keyNorm: 'model.layers.{i}.self_attn.k_norm.weight',
  output: 'model.layers.{i}.self_attn.o_proj.weight',
  outputBias: 'model.layers.{i}.self_attn.o_proj.bias',
  feedForwardNorm: 'model.layers.{i}.post_attention_layernorm.weight',
  gate: 'model.layers.{i}.mlp.gate_proj.weight',
  up: 'model.layers.{i}.mlp.up_proj.weight',
  down: 'model.layers.{i}.mlp.down_proj.weight',
  finalNorm: 'model.norm.weight',
  head: 'lm_head.weight',
};

const readSizes = (config: Config): Sizes => {
  const heads = config.count('num_attention_heads');
  const hidden = config.count('hidden_size');
  const sizes = {
    layers: config.count('num_hidden_layers'),
    hidden,
    heads,
    keyValueHeads: config.count('num_key_value_heads', heads),
    headDim: config.count('head_dim', hidden / heads),
    feedForward: config.count('intermediate_size'),
    vocabulary: config.count('vocab_size'),
    context: config.count('max_position_embeddings'),
  };
  if (heads % sizes.keyValueHeads !== 0)
    throw config.error(`num_attention_heads ${heads} is not a multiple of num_key_value_heads ${sizes.keyValueHeads}`);
  if (sizes.headDim % 8 !== 0) throw config.error(`head_dim ${sizes.headDim} is not a multiple of 8`);
  return sizes;
};

/** A scaled RoPE may reach further than `max_position_embeddings`, which some configs leave at the original length. */
const reach = ({ scaling }: Rope, context: number): number =>
  scaling.type === 'yarn' ? Math.max(context, Math.floor(scaling.originalContext * scaling.factor)) : context;

export interface Differences {
  readonly family: string;
  readonly queryKeyNorm: boolean;
  readonly bias: Attention['bias'];
  /** The window of each layer. */
  readonly windows: (layers: number) => readonly (number | null)[];
}

/** Reads what is common and closes the config: a field that neither this nor the family has read is an error. */
export const readDecoder = (config: Config, { family, queryKeyNorm, bias, windows }: Differences): Architecture => {
  const sizes = readSizes(config);
  const rope = readRope(config, sizes.context);
  const epsilon = config.number('rms_norm_eps', 1e-6);
  const head = config.flag('tie_word_embeddings', false) ? 'tied' : 'own';
  config.must('hidden_act', 'silu');
  config.must('rope_interleaved', false);
  config.finish();
  return {
    family,
    sizes: { ...sizes, context: reach(rope, sizes.context) },
    blocks: windows(sizes.layers).map((window) => ({
      mixer: { kind: 'attention', causal: true, queryKeyNorm, bias, window, rope },
      feedForward: { kind: 'gated', activation: 'silu' },
    })),
    input: { embedding: 'own' },
    head,
    norm: { kind: 'rms', epsilon },
    names: NAMES,
  };
};
