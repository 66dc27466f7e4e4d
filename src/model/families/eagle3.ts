// EAGLE-3 drafters (arXiv 2503.01840): one layer that reads a fused feature of the target and the embedding of the
// token after it, with keys and values of its own, and a head over a part of the target's vocabulary.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { AS_THEY_ARE, layerNames, readLayers } from './decoder.ts';

export interface Eagle3 {
  readonly kind: 'eagle3';
  readonly architecture: Architecture;
  /** Ids of the target; `architecture` has those of the draft. */
  readonly vocabulary: number;
  /** The layers that it taps, given the number of the target's layers. */
  readonly tapLayers: (targetLayers: number) => readonly number[];
}

/** The streams that enter layers 2, L/2 and L - 3 are the outputs of the layers before those. */
const tapLayers = (layers: number): number[] => [2, Math.floor(layers / 2), layers - 3].map((entered) => entered - 1);

export const readEagle3 = (config: Config): Eagle3 => {
  const bias = config.flag('attention_bias', false);
  const { sizes, blocks, norm } = readLayers(config, {
    bias: { queryKeyValue: bias, output: bias },
  });
  if (sizes.layers !== 1) throw config.error(`num_hidden_layers is ${sizes.layers}; an EAGLE-3 drafter has 1`);
  config.must('mlp_bias', false);
  config.must('norm_before_residual', false);
  config.flag('tie_word_embeddings', false); // its head is its own either way
  const drafted = config.count('draft_vocab_size', sizes.vocabulary);
  if (drafted > sizes.vocabulary)
    throw config.error(`draft_vocab_size ${drafted} is more than vocab_size ${sizes.vocabulary}`);
  config.finish();
  return {
    kind: 'eagle3',
    architecture: {
      family: 'eagle3',
      sizes: { ...sizes, vocabulary: drafted },
      blocks,
      norm,
      input: { embedding: 'target', features: { count: 3, as: 'stream' }, scale: 1 },
      head: 'own',
      spreadOver: sizes.vocabulary,
      logits: AS_THEY_ARE,
      names: {
        ...layerNames('midlayer'),
        fuse: 'fc.weight',
        featureNorm: 'midlayer.hidden_norm.weight',
        finalNorm: 'norm.weight',
        head: 'lm_head.weight',
      },
    },
    vocabulary: sizes.vocabulary,
    tapLayers,
  };
};
