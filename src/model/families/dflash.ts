// DFlash drafters (arXiv 2602.06036; z-lab/dflash): Qwen3 layers without embedding or head, which see the target's
// fused hidden states as keys and values, and fill a block of masks in one pass that is not causal.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { AS_THEY_ARE, layerNames, readLayers } from './decoder.ts';
import { readWindows } from './windows.ts';

export interface DFlash {
  readonly kind: 'dflash';
  readonly architecture: Architecture;
  /** Ids of the target, and so of its embedding and its head. */
  readonly vocabulary: number;
  /** The layers that it taps, given the number of the target's layers. */
  readonly tapLayers: (targetLayers: number) => readonly number[];
  /** The block size it was trained for, the anchor counted. */
  readonly blockSize: number;
  /** The id that stands for a token to be drafted. */
  readonly maskToken: number;
  /** Layers of the target that it was trained for; null where the config does not say. */
  readonly targetLayers: number | null;
}

/** Python's rounding, half to even: the published ids were made with it. */
const round = (x: number): number => {
  const low = Math.floor(x);
  return x - low === 0.5 ? low + (low % 2) : Math.round(x);
};

/** The layers that `count` taps take where the config names none, given the number of the target's layers. */
export const defaultTaps = (layers: number, count: number): number[] =>
  count === 1
    ? [Math.floor(layers / 2)]
    : Array.from({ length: count }, (_, i) => round(1 + (i * (layers - 4)) / (count - 1)));

export const readDFlash = (config: Config): DFlash => {
  const bias = config.flag('attention_bias', false);
  const layers = readLayers(config, {
    causal: false,
    queryKeyNorm: 'head',
    bias: { queryKeyValue: bias, output: bias },
    windows: readWindows(config),
  });
  config.flag('tie_word_embeddings', false); // it has neither matrix
  const own = config.inner('dflash_config');
  if (!own) throw config.error('dflash_config is missing');
  // At the top level in the first checkpoints, inside in later ones.
  const blockSize = config.has('block_size') ? config.count('block_size') : own.count('block_size');
  if (own.has('block_size') && own.count('block_size') !== blockSize)
    throw config.error(`block_size is ${blockSize}, dflash_config has ${own.count('block_size')}`);
  if (blockSize < 2) throw config.error(`a block_size of ${blockSize} leaves nothing to draft`);
  const maskToken = own.index('mask_token_id');
  const targetLayers = config.has('num_target_layers') ? config.count('num_target_layers') : null;
  const named = own.indices('target_layer_ids');
  const count = named?.length ?? layers.sizes.layers;
  own.finish();
  config.finish();
  return {
    kind: 'dflash',
    architecture: {
      family: 'dflash',
      ...layers,
      input: { embedding: 'target', features: { count, as: 'keys' }, scale: 1 },
      head: 'target',
      spreadOver: null,
      logits: AS_THEY_ARE,
      names: {
        ...layerNames('layers.{i}'),
        fuse: 'fc.weight',
        featureNorm: 'hidden_norm.weight',
        finalNorm: 'norm.weight',
      },
    },
    vocabulary: layers.sizes.vocabulary,
    tapLayers: (most) => named ?? defaultTaps(targetLayers ?? most, count),
    blockSize,
    maskToken,
    targetLayers,
  };
};
