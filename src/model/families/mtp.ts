// The layer of Qwen3.5 and 3.6 that predicts a second token (multi-token prediction, MTP; DeepSeek-V3, arXiv 2412.19437),
// read from the target's own checkpoint: h' = norm(block(fc[norm(embedding of the next token); norm(h)])) goes to the
// target's head, and in the next draft stands for h. Embedding first, as in vLLM, SGLang and llama.cpp. Here h is the
// target's state after its final norm: vLLM feeds that, llama.cpp since pull request 24025, and LightLLM measured 2.7
// instead of 1.8 tokens a round with it (Qwen3.5-0.8B, pull request 1402). Some ports feed the state before the norm.
// A row has the position of its h, as in vLLM; llama.cpp counts one more, which RoPE does not see.
import type { Architecture } from '../architecture.ts';
import type { DrafterFacts } from './block-drafter.ts';
import type { Config } from './config.ts';
import { layerNames } from './decoder.ts';
import { readQwen35, readQwen35WithImages } from './qwen3-5.ts';

export interface Mtp extends DrafterFacts {
  readonly kind: 'mtp';
}

const LAYER = 'mtp.layers.{i}';

/** `config`: of the language model, whose other fields `target` was read from. */
const mtpOf = (target: Architecture, config: Config): Mtp => {
  const layers = config.count('mtp_num_hidden_layers', 1);
  if (layers !== 1) throw config.error(`mtp_num_hidden_layers is ${layers}; Outrider runs 1`);
  config.must('mtp_use_dedicated_embeddings', false);
  const block = target.blocks.find(({ mixer }) => mixer.kind === 'attention');
  if (!block) throw config.error('no layer attends, so the sizes of the MTP layer are not known');
  const { sizes, norm, logits } = target;
  return {
    kind: 'mtp',
    architecture: {
      family: 'qwen3_5_mtp',
      sizes: { ...sizes, layers: 1 },
      blocks: [block],
      norm,
      input: { embedding: 'target', features: { count: 1, as: 'joined', feedsBackNormed: true }, scale: 1 },
      head: 'target',
      spreadOver: null,
      logits,
      names: {
        ...layerNames(LAYER),
        outputGate: `${LAYER}.self_attn.q_proj.weight`,
        fuse: 'mtp.fc.weight',
        featureNorm: 'mtp.pre_fc_norm_hidden.weight',
        embeddingNorm: 'mtp.pre_fc_norm_embedding.weight',
        finalNorm: 'mtp.norm.weight',
      },
      otherParts: ['model.', 'language_model.', 'lm_head.', 'visual.'],
    },
    vocabulary: sizes.vocabulary,
    tapLayers: (count) => [count - 1],
    copies: [],
  };
};

export const readMtp = (config: Config): Mtp => mtpOf(readQwen35(config), config);

export const readMtpWithImages = (config: Config): Mtp =>
  mtpOf(readQwen35WithImages(config), config.inner('text_config') as Config);
