// DFlash drafters (arXiv 2602.06036; z-lab/dflash): they fill a block of masks in one pass, and row k scores the token at
// its own position, so the anchor's row is not used.
import { type BlockFacts, blockArchitecture, defaultTaps, readCausality } from './block-drafter.ts';
import type { Config } from './config.ts';

export interface DFlash extends BlockFacts {
  readonly kind: 'dflash';
  /** A tap of the target's last layer is read before the final norm, unlike in the authors' code (our own drafter). */
  readonly tapsBeforeNorm?: boolean;
}

export const readDFlash = (config: Config): DFlash => {
  const own = config.inner('dflash_config');
  if (!own) throw config.error('dflash_config is missing');
  if (config.has('markov_rank') || own.has('markov_rank'))
    throw config.error(
      'a DFlashDraftModel with a Markov head (markov_rank) is not supported',
      'Which of its rows drafts first has not been tested. Qwen3DSparkModel and the speculators layout are supported.',
    );
  // At the top level in the first checkpoints, inside in later ones.
  const blockSize = config.has('block_size') ? config.count('block_size') : own.count('block_size');
  if (own.has('block_size') && own.count('block_size') !== blockSize)
    throw config.error(`block_size is ${blockSize}, dflash_config has ${own.count('block_size')}`);
  if (blockSize < 2) throw config.error(`a block_size of ${blockSize} leaves nothing to draft`);
  const maskToken = own.index('mask_token_id');
  const targetLayers = config.countOrNull('num_target_layers');
  const tapsBeforeNorm = own.flag('taps_before_norm', false);
  const named = own.indices('target_layer_ids', -1);
  const block = blockArchitecture(config, {
    family: 'dflash',
    causal: readCausality(config),
    drafted: config.countOrNull('draft_vocab_size'),
    taps: named?.length ?? null,
  });
  const { input } = block.architecture;
  const count = input.features?.count ?? 0;
  own.finish();
  config.finish();
  return {
    kind: 'dflash',
    ...block,
    // The authors' code calls the target's embedding; in other layouts the drafter keeps a copy of its bare rows.
    architecture: { ...block.architecture, input: { ...input, scaleInside: true } },
    tapLayers: (most) => named ?? defaultTaps(targetLayers ?? most, count),
    blockSize,
    maskToken,
    targetLayers,
    tapsBeforeNorm,
  };
};
