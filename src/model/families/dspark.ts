// DSpark drafters (arXiv 2607.05147; deepseek-ai/DeepSpec): DFlash with a Markov head, which corrects each row by the
// token drafted before it, and a confidence head. The authors' drafters without a Markov head (rank 0) are read here
// too, because all their rows draft. Which row drafts first is read from the config and never guessed: a wrong choice
// would only show as drafts that are never accepted.
import type { MarkovHeads } from '../architecture.ts';
import { type BlockFacts, blockArchitecture, readCausality } from './block-drafter.ts';
import type { Config } from './config.ts';

export interface DSpark extends BlockFacts {
  readonly kind: 'dspark';
  /** The first row that drafts: 0, the anchor's, which then scores the token after it; or 1, whose rows score their own. */
  readonly firstRow: 0 | 1;
  /** Divisors of the confidence's logits, one for each row that drafts; null: none. */
  readonly temperatures: readonly number[] | null;
}

const KINDS = ['vanilla', 'gated', 'rnn'] as const;

/** What the heads are where the config does not say. */
interface Silent {
  readonly rank?: number;
  readonly confident?: boolean;
  /** The confidence reads the Markov head. */
  readonly reads?: boolean;
}

/** The fields of the two heads. */
export const readHeads = (config: Config, silent: Silent = {}): MarkovHeads => {
  const rank = config.has('markov_rank') || silent.rank === undefined ? config.index('markov_rank') : silent.rank;
  const kind = config.text('markov_head_type', 'vanilla');
  const known = KINDS.find((each) => each === kind);
  if (!known) throw config.error(`markov_head_type is ${kind}; ${KINDS.join(', ')} are supported`);
  const confident = config.flag('enable_confidence_head', silent.confident ?? false);
  const withToken = config.flag('confidence_head_with_markov', silent.reads ?? false);
  if (confident && withToken && rank === 0)
    throw config.error('confidence_head_with_markov is set, and markov_rank 0 leaves nothing for it to read');
  const markov = rank > 0 ? { kind: known, rank } : null;
  return { markov, confidence: confident ? (withToken ? 'hidden and token' : 'hidden') : null };
};

/** `config_temperatures`, if there are any, for so many rows. */
const readTemperatures = (config: Config, rows: number): readonly number[] | null => {
  const all = config.numbers('confidence_temperatures');
  if (all && (all.length < rows || all.some((each) => each <= 0)))
    throw config.error(`confidence_temperatures has ${all.length} entries; ${rows} positive ones are needed`);
  return all;
};

/**
 * The file begins as a copy of its target's config, so fields of experts, delta nets and layers for several tokens may have
 * stayed in it. They mean nothing to a drafter, which is a dense Qwen3, and its tensors are checked.
 */
const OF_TARGET = [
  ...['attn_output_gate', 'decoder_sparse_step', 'full_attention_interval', 'mamba_ssm_dtype', 'mlp_only_layers'],
  ...[
    'moe_intermediate_size',
    'mtp_num_hidden_layers',
    'mtp_use_dedicated_embeddings',
    'norm_topk_prob',
    'num_experts',
  ],
  ...['num_experts_per_tok', 'num_local_experts', 'output_router_logits', 'router_aux_loss_coef'],
  ...['router_jitter_noise', 'shared_expert_intermediate_size'],
  ...['conv_kernel_dim', 'key_head_dim', 'num_key_heads', 'num_value_heads', 'value_head_dim'].map(
    (name) => `linear_${name}`,
  ),
];

/** The authors' layout: flat, every row drafts unless the config says otherwise. */
export const readDSpark = (config: Config): DSpark => {
  const blockSize = config.count('block_size');
  const firstRow = config.flag('sample_from_anchor', true) ? 0 : 1;
  const taps = config.indices('target_layer_ids', -1);
  if (!taps) throw config.error('target_layer_ids is missing');
  const targetLayers = config.countOrNull('num_target_layers');
  const maskToken = config.index('mask_token_id');
  const temperatures = readTemperatures(config, blockSize - firstRow);
  config.ignore('num_anchors', ...OF_TARGET); // the first of training
  const block = blockArchitecture(config, {
    family: 'dspark',
    causal: readCausality(config),
    drafted: config.countOrNull('draft_vocab_size'),
    taps: taps.length,
    heads: readHeads(config),
  });
  config.finish();
  return dsparkOf(config, {
    ...block,
    tapLayers: () => taps,
    blockSize,
    firstRow,
    maskToken,
    temperatures,
    targetLayers,
  });
};

/** What tells one layout with taps and mask in `dflash_config` from another. */
interface Nested extends Pick<DSpark, 'blockSize' | 'firstRow' | 'targetLayers' | 'temperatures'> {
  readonly heads: MarkovHeads;
  readonly pairs?: 'adjacent' | undefined;
}

const readNested = (config: Config, own: Config, { heads, pairs, ...facts }: Nested): DSpark => {
  const taps = own.indices('target_layer_ids', -1);
  if (!taps) throw own.error('target_layer_ids is missing');
  const maskToken = own.index('mask_token_id');
  const causal = readCausality(config);
  const block = blockArchitecture(config, { family: 'dspark', causal, drafted: null, taps: taps.length, heads, pairs });
  own.finish();
  config.finish();
  return dsparkOf(config, { ...block, ...facts, tapLayers: () => taps, maskToken });
};

/** SpecForge's and SGLang's layout: the heads' fields lie in `dflash_config`, and the anchor's row is not used. */
export const readSpecForge = (config: Config): DSpark => {
  const own = config.inner('dflash_config');
  if (own?.text('projector_type', '') !== 'dspark')
    throw config.error(
      'which rows of this DSparkDraftModel draft cannot be told',
      'It has neither speculators_model_type nor dflash_config with projector_type "dspark".',
    );
  const inner = own.countOrNull('block_size');
  const blockSize = config.count('block_size', inner ?? undefined);
  return readNested(config, own, {
    blockSize,
    firstRow: 1,
    targetLayers: config.countOrNull('num_target_layers'),
    temperatures: readTemperatures(own, blockSize - 1),
    heads: readHeads(own),
  });
};

/**
 * Liquid AI's layout of drafters for LFM2: taps and mask lie in `dflash_config`, which has no projector_type, the heads'
 * fields outside it, and RoPE rotates adjacent elements. Every row drafts, and the confidence reads the Markov head:
 * SGLang and vLLM run such drafters by their classes for the authors' layout.
 */
export const readLiquid = (config: Config): DSpark => {
  const own = config.inner('dflash_config');
  if (!own) throw config.error('dflash_config is missing');
  return readNested(config, own, {
    blockSize: config.count('block_size'),
    firstRow: 0,
    targetLayers: own.countOrNull('num_target_layers'),
    temperatures: null,
    heads: readHeads(config, { reads: true }),
    pairs: config.flag('rope_is_neox_style', true) ? undefined : 'adjacent',
  });
};

/** The record, once its block is known to draft something. */
export const dsparkOf = (config: Config, facts: Omit<DSpark, 'kind'>): DSpark => {
  if (facts.blockSize - facts.firstRow < 1)
    throw config.error(`a block_size of ${facts.blockSize} leaves nothing to draft`);
  return { kind: 'dspark', ...facts };
};
