// EAGLE-3 drafters (arXiv 2503.01840): one layer that reads a fused feature of the target and the embedding of the
// token after it, with keys and values of its own, and a head over a part of the target's vocabulary. AngelSlim's files
// have the same tensors.
import type { Features } from '../architecture.ts';
import type { DrafterFacts } from './block-drafter.ts';
import type { Config } from './config.ts';
import { AS_THEY_ARE, layerNames, readLayers } from './decoder.ts';
import { readWindows } from './windows.ts';

export interface Eagle3 extends DrafterFacts {
  readonly kind: 'eagle3';
}

/** The streams that enter layers 2, L/2 and L - 3 are the outputs of the layers before those. */
export const defaultEagleTaps = (layers: number): number[] =>
  [2, Math.floor(layers / 2), layers - 3].map((entered) => entered - 1);

interface Eagle3Options extends Pick<Features, 'tapNorms' | 'normedResidual' | 'feedsBackNormed'> {
  readonly drafted: number | null;
  readonly queryKeyNorm: boolean;
  /** What stands before the names of the layer's tensors. */
  readonly layer: string;
  /** The embedding was trained further; otherwise it is a copy of the target's. */
  readonly ownEmbedding: boolean;
  /** The head is the target's. */
  readonly borrowsHead: boolean;
  readonly taps: number;
  readonly tapLayers: Eagle3['tapLayers'];
}

/** `config` holds the sizes of the layer. */
export const eagle3Of = (
  config: Config,
  { drafted, queryKeyNorm, layer, ownEmbedding, borrowsHead, taps, tapLayers, ...norms }: Eagle3Options,
): Eagle3 => {
  const bias = config.flag('attention_bias', false);
  const { sizes, blocks, norm } = readLayers(config, {
    queryKeyNorm: queryKeyNorm ? 'head' : null,
    bias: { queryKeyValue: bias, output: bias },
    windows: readWindows(config),
  });
  if (sizes.layers !== 1) throw config.error(`num_hidden_layers is ${sizes.layers}; an EAGLE-3 drafter has 1`);
  config.ignore('tie_word_embeddings'); // its head is its own either way
  const { vocabulary } = sizes;
  if ((drafted ?? 0) > vocabulary)
    throw config.error(`draft_vocab_size ${drafted} is more than vocab_size ${vocabulary}`);
  const own = drafted ?? vocabulary;
  return {
    kind: 'eagle3',
    architecture: {
      family: 'eagle3',
      sizes: { ...sizes, vocabulary: own },
      blocks,
      norm,
      input: {
        embedding: ownEmbedding ? 'own' : 'target',
        features: { count: taps, as: 'stream', ...norms },
        scale: 1,
      },
      head: borrowsHead ? 'target' : 'own',
      spreadOver: vocabulary,
      logits: AS_THEY_ARE,
      names: {
        ...layerNames(layer),
        embedding: 'embed_tokens.weight',
        fuse: 'fc.weight',
        featureNorm: `${layer}.hidden_norm.weight`,
        tapNorm: norms.tapNorms === 'each' ? 'fc_norm.{i}.weight' : 'input_norm.weight',
        finalNorm: 'norm.weight',
        head: 'lm_head.weight',
      },
    },
    vocabulary,
    tapLayers,
    copies: ownEmbedding ? [] : ['embed_tokens.weight'],
  };
};

/** The target's width, where a config states it; `hidden`: the drafter's. */
export const readTargetWidth = (config: Config, hidden: number): void => {
  const width = config.has('target_hidden_size') ? config.count('target_hidden_size') : hidden;
  if (width !== hidden)
    throw config.error(`target_hidden_size is ${width}, and the drafter's is ${hidden}: Outrider needs them equal`);
};

/** The authors' layout and AngelSlim's: flat. */
export const readEagle3 = (config: Config): Eagle3 => {
  const eagle = config.inner('eagle_config');
  const entered = eagle?.indices('eagle_aux_hidden_state_layer_ids') ?? null;
  eagle?.must('use_aux_hidden_state', true);
  eagle?.finish();
  config.ignore('target_model_type');
  const together = config.flag('norm_before_fc', false);
  const drafter = eagle3Of(config, {
    drafted: config.countOrNull('draft_vocab_size'),
    queryKeyNorm: false,
    layer: 'midlayer',
    ownEmbedding: config.flag('embed_requires_grad', false),
    borrowsHead: config.flag('borrows_head', false), // of GGUF
    normedResidual: config.flag('norm_before_residual', false),
    tapNorms: together ? 'together' : config.flag('fc_norm', false) ? 'each' : undefined,
    feedsBackNormed: config.flag('norm_output', false),
    taps: entered?.length ?? 3,
    tapLayers: entered ? () => entered.map((layer) => layer - 1) : defaultEagleTaps,
  });
  readTargetWidth(config, drafter.architecture.sizes.hidden);
  config.finish();
  return drafter;
};
