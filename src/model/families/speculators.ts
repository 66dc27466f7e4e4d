// The layout of vLLM's speculators library for EAGLE-3, DFlash and DSpark: the sizes of the layers are nested in
// `transformer_layer_config`, and layers of the target are named by their inputs, one more than by their outputs.
import { type BlockFacts, blockArchitecture, readCausality } from './block-drafter.ts';
import type { Config } from './config.ts';
import type { DFlash } from './dflash.ts';
import { type DSpark, dsparkOf, readHeads } from './dspark.ts';
import { defaultEagleTaps, type Eagle3, eagle3Of, readTargetWidth } from './eagle3.ts';

/** Whether a config is of this layout. */
export const isSpeculators = (json: Readonly<Record<string, unknown>>): boolean =>
  json.speculators_model_type !== undefined && json.speculators_model_type !== null;

/** Parts of the target that training needs; some files keep them. */
const VERIFIER = ['verifier_lm_head.weight', 'verifier_norm.weight'];

const layersOf = (config: Config): Config => {
  const layers = config.inner('transformer_layer_config');
  if (!layers) throw config.error('transformer_layer_config is missing');
  return layers;
};

/** Fields that both kinds have; `hidden`: the drafter's width. */
const readCommon = (config: Config, hidden: number): void => {
  config.ignore('speculators_config', 'speculators_version', 'tie_word_embeddings');
  readTargetWidth(config, hidden);
};

/** How many tokens its first proposal method drafts; null where the config does not say. */
const proposedTokens = (config: Config): number | null => {
  const methods: unknown = config.inner('speculators_config')?.list('proposal_methods')?.[0];
  const count = (methods as Record<string, unknown> | undefined)?.speculative_tokens;
  return typeof count === 'number' ? count : null;
};

/** DFlash's rows by default; files of DSpark from before July 2026 say it only by how many tokens they propose. */
const firstRowOf = (config: Config, type: string, blockSize: number): 0 | 1 => {
  if (config.has('sample_from_anchor') || type === 'dflash') return config.flag('sample_from_anchor', false) ? 0 : 1;
  const proposed = proposedTokens(config);
  if (proposed === blockSize) return 0;
  if (proposed === blockSize - 1) return 1;
  throw config.error(
    'which row of the block drafts first cannot be told',
    'It has no sample_from_anchor, and its proposal method names neither block_size nor one token fewer.',
  );
};

/** The heads that its configuration class has by default. */
const SILENT = { rank: 256, confident: true, reads: true };

const readBlock = (config: Config, type: 'dflash' | 'dspark'): DFlash | DSpark => {
  const layers = layersOf(config);
  const blockSize = config.count('block_size');
  const firstRow = firstRowOf(config, type, blockSize);
  const entered = config.indices('aux_hidden_state_layer_ids');
  if (!entered) throw config.error('aux_hidden_state_layer_ids is missing');
  const taps = entered.map((layer) => layer - 1);
  const heads = type === 'dspark' ? readHeads(config, SILENT) : undefined;
  const block = blockArchitecture(layers, {
    family: type,
    causal: readCausality(config),
    drafted: config.count('draft_vocab_size'),
    taps: taps.length,
    ...(heads && { heads }),
  });
  layers.finish();
  readCommon(config, block.architecture.sizes.hidden);
  const facts: BlockFacts = {
    ...block,
    copies: [...block.copies, ...VERIFIER],
    tapLayers: () => taps,
    blockSize,
    maskToken: config.index('mask_token_id'),
    targetLayers: null,
  };
  config.finish();
  if (type === 'dflash' && firstRow === 1) {
    if (blockSize < 2) throw config.error(`a block_size of ${blockSize} leaves nothing to draft`);
    return { kind: 'dflash', ...facts };
  }
  // A DFlash drafter whose anchor row drafts too is a DSpark drafter without heads.
  return dsparkOf(config, { ...facts, firstRow, temperatures: null });
};

const readEagle = (config: Config): Eagle3 => {
  const layers = layersOf(config);
  const model = layers.text('model_type', 'llama');
  if (model !== 'llama' && model !== 'qwen3')
    throw layers.error(`model_type ${model} is not supported for an EAGLE-3 layer (llama and qwen3 are)`);
  const entered = config.indices('eagle_aux_hidden_state_layer_ids');
  const drafter = eagle3Of(layers, {
    drafted: config.count('draft_vocab_size'),
    queryKeyNorm: model === 'qwen3',
    layer: 'layers.0',
    ownEmbedding: config.flag('embed_requires_grad', false),
    borrowsHead: false,
    normedResidual: config.flag('norm_before_residual', false),
    tapNorms: config.flag('norm_before_fc', false) ? 'together' : config.flag('fc_norm', false) ? 'each' : undefined,
    feedsBackNormed: config.flag('norm_output', false),
    taps: entered?.length ?? 3,
    tapLayers: entered ? () => entered.map((layer) => layer - 1) : defaultEagleTaps,
  });
  if (config.flag('fc_norm', false) && config.flag('norm_before_fc', false))
    throw config.error('fc_norm and norm_before_fc exclude each other, and both are set');
  layers.finish();
  readCommon(config, drafter.architecture.sizes.hidden);
  config.finish();
  return { ...drafter, copies: [...drafter.copies, ...VERIFIER] };
};

export const readSpeculators = (config: Config): DFlash | DSpark | Eagle3 => {
  const type = config.text('speculators_model_type');
  if (type === 'eagle3') return readEagle(config);
  if (type === 'dflash' || type === 'dspark') return readBlock(config, type);
  throw config.error(`speculators_model_type ${type} is not supported`, 'Supported: eagle3, dflash, dspark.');
};
