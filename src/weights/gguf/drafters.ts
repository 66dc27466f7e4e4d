// GGUF files of drafters: architecture `dflash`, which DSpark shares, and `eagle3`. Two traps: layers of the target are
// named by their inputs, one more than by their outputs, and d2t holds the target's ids themselves (load-drafter.ts).
import { bad } from '../../base/refuse.ts';
import { shown } from '../../base/shown.ts';
import { type Facts, type GgufFamily, layerTypes } from './families.ts';
import type { Fields } from './fields.ts';

type Json = Readonly<Record<string, unknown>>;

/** Rows of the first of these tensors that is there. */
const rowsOf = ({ shapes }: Facts, ...names: readonly string[]): number | undefined =>
  names.map((name) => shapes.get(name)?.[0]).find((rows) => rows !== undefined);

/** Without a map the head covers the target's vocabulary. */
const drafted = (facts: Facts): Json => {
  const own = rowsOf(facts, 'd2t');
  return own === undefined ? {} : { draft_vocab_size: own };
};

/** The target's vocabulary. Where no tensor has as many rows, the target has the last word (load-drafter.ts). */
const vocabulary = (facts: Facts, fields: Fields): number | null =>
  rowsOf(facts, 'token_embd.weight', 'markov_w1.weight', ...(facts.shapes.has('d2t') ? [] : ['output.weight'])) ??
  fields.optional('vocab_size') ??
  fields.tokens;

/** The numbers of a list, each a whole number from `least` on. */
const layersIn = (fields: Fields, key: string, least: number): readonly number[] | null => {
  const list = fields.list(key);
  if (list === undefined) return null;
  if (list.length === 0 || !list.every((each) => Number.isInteger(each) && (each as number) >= least))
    throw bad(`${key} is ${shown(list)}, expected whole numbers from ${least} on`);
  return list as readonly number[];
};

/** DFlash2 shares the architecture's name and has four keys of its own. */
const DFLASH2 = ['conv_kernel_size', 'conv_group_size', 'selector_rank', 'selector_top_k'];

const windows = (fields: Fields, layers: number): Json => {
  const window = fields.optional('attention.sliding_window') || null;
  const types = layerTypes(fields, layers);
  if (window === null) return {};
  if (!types) throw bad(`attention.sliding_window_pattern names 0 layers, there are ${layers}`);
  return { use_sliding_window: true, sliding_window: window, layer_types: types };
};

const dflash = (fields: Fields, facts: Facts): Json => {
  const { hidden, layers, shapes } = facts;
  for (const key of DFLASH2)
    if (fields.optional(key) !== undefined)
      throw bad(`the drafter is a DFlash2 (dflash.${key})`, 'Supported in GGUF: DFlash, DSpark and EAGLE-3.');
  const entered = layersIn(fields, 'target_layers', 0);
  if (!entered)
    throw bad(
      'GGUF metadata lacks dflash.target_layers',
      'A file from before llama.cpp read DFlash: convert it again.',
    );
  const maskToken = fields.global('tokenizer.ggml.mask_token_id');
  const rank = shapes.get('markov_w1.weight')?.[1] ?? 0;
  const confidence = shapes.get('conf_proj.weight')?.at(-1);
  if (fields.flag('has_confidence_head') && confidence === undefined) throw bad('tensor conf_proj.weight is missing');
  // As llama.cpp does, a window alone makes no layer causal.
  const causal = fields.flag('attention.causal') ?? false;
  const taps = entered.map((layer) => layer - 1);
  const common = {
    model_type: 'qwen3',
    vocab_size: vocabulary(facts, fields),
    tie_word_embeddings: false,
    attention_bias: false,
    block_size: fields.required('block_size'),
    is_causal: causal,
    sliding_window_non_causal: !causal,
    ...drafted(facts),
    ...windows(fields, layers),
  };
  const anchorFirst = fields.flag('sample_from_anchor') ?? rank > 0;
  if (rank === 0 && !anchorFirst)
    return {
      ...common,
      architectures: ['DFlashDraftModel'],
      dflash_config: { mask_token_id: maskToken, target_layer_ids: taps },
    };
  return {
    ...common,
    architectures: ['Qwen3DSparkModel'],
    mask_token_id: maskToken,
    target_layer_ids: taps,
    sample_from_anchor: anchorFirst,
    markov_rank: rank,
    enable_confidence_head: confidence !== undefined,
    confidence_head_with_markov: confidence !== undefined && confidence !== hidden,
  };
};

const eagle3 = (fields: Fields, facts: Facts): Json => {
  const entered = layersIn(fields, 'target_layers', 0) ?? layersIn(fields, 'extract_layers', 0);
  return {
    model_type: 'llama',
    vocab_size: vocabulary(facts, fields),
    tie_word_embeddings: false,
    attention_bias: facts.shapes.has('blk.0.attn_q.bias'),
    target_hidden_size: fields.optional('target_hidden_size') ?? null,
    norm_before_residual: fields.flag('norm_before_residual') ?? false,
    norm_before_fc: fields.flag('norm_before_fc') ?? false,
    embed_requires_grad: facts.shapes.has('token_embd.weight'),
    borrows_head: !facts.shapes.has('output.weight') && !facts.shapes.has('d2t'),
    eagle_config: entered && { eagle_aux_hidden_state_layer_ids: entered },
    ...drafted(facts),
  };
};

/** Both keep the target's embedding and head, or copies of them, under these names. */
const SHARED = { token_embd: 'embed_tokens', output_norm: 'norm', output: 'lm_head', fc: 'fc', d2t: 'd2t' };

export const DRAFTER_FAMILIES: Readonly<Record<string, GgufFamily>> = {
  dflash: {
    architecture: 'DFlashDraftModel',
    config: dflash,
    layer: 'layers.{i}',
    names: {
      ...SHARED,
      'enc.output_norm': 'hidden_norm',
      markov_w1: 'markov_head.markov_w1',
      markov_w2: 'markov_head.markov_w2',
      conf_proj: 'confidence_head.proj',
    },
  },
  eagle3: {
    architecture: 'LlamaForCausalLMEagle3',
    config: eagle3,
    permuted: true,
    layer: 'midlayer',
    names: { ...SHARED, 'enc.output_norm': 'input_norm', attn_norm_2: 'hidden_norm' },
  },
};

/** Architectures of forks, whose tensors have other names. */
export const FORKS: readonly string[] = ['dflash-draft', 'dspark'];
